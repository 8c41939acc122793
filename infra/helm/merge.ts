import { variables } from '../../runtime/config/document.ts';
import { isMap, type JsonMap } from '../../runtime/injection/lists.ts';

/** A place in the tree where two renderings differ. `ABSENT` is what one of them does not have. */
export class Either {
  constructor(
    readonly condition: string,
    readonly then: unknown,
    readonly otherwise: unknown,
  ) {}
}

export const ABSENT = Symbol('absent');

/** The one key of a map that stands for a configuration, which is a text in JSON: so its differences are found like all others. */
const DOCUMENT = '{}';

/** Returns a tree with such a map in the place of each configuration. */
export function withDocuments(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withDocuments);
  if (!isMap(tree)) return tree;
  const { name, value } = tree;
  if (name === variables.config) return { name, value: { [DOCUMENT]: JSON.parse(String(value)) as JsonMap } };
  return Object.fromEntries(Object.entries(tree).map(([key, child]) => [key, withDocuments(child)]));
}

/** Returns the configuration that a map stands for. */
export const documentIn = (value: unknown): JsonMap | undefined =>
  isTree(value) && DOCUMENT in value ? (value[DOCUMENT] as JsonMap) : undefined;

const isTree = (value: unknown): value is JsonMap => isMap(value) && !(value instanceof Either);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * Works what differs between `base` and `other` into `tree`, which is `base` with the differences of other conditions in
 * it already.
 */
export function merge(tree: unknown, base: unknown, other: unknown, condition: string): unknown {
  if (base === other || same(base, other)) return tree;
  if (tree instanceof Either)
    return new Either(tree.condition, tree.then, merge(tree.otherwise, base, other, condition));
  if (isTree(tree) && isTree(base) && isTree(other)) return mergeMaps(tree, base, other, condition);
  return mergeLists(tree, base, other, condition) ?? new Either(condition, other, tree);
}

/** Item by item, where both have as many; undefined where they are no lists, or of different lengths. */
function mergeLists(tree: unknown, base: unknown, other: unknown, condition: string): unknown[] | undefined {
  if (!Array.isArray(tree) || !Array.isArray(base) || !Array.isArray(other)) return undefined;
  if (base.length !== other.length) return undefined;
  return tree.map((item: unknown, index) => merge(item, base[index], other[index], condition));
}

function mergeMaps(tree: JsonMap, base: JsonMap, other: JsonMap, condition: string): JsonMap {
  const keys = [...new Set([...Object.keys(tree), ...Object.keys(other)])];
  return Object.fromEntries(
    keys.map((key) => {
      const was = key in tree ? tree[key] : ABSENT;
      if (!(key in base)) return [key, key in other ? new Either(condition, other[key], was) : was];
      if (!(key in other)) return [key, new Either(condition, ABSENT, was)];
      return [key, merge(was, base[key], other[key], condition)];
    }),
  );
}

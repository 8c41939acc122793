import { variables } from '../../runtime/config/document.ts';
import { isPlainObject, type JsonMap } from '../../runtime/json/values.ts';

/** A place where two renderings differ. `ABSENT` stands for a missing value. */
export class Either {
  constructor(
    readonly condition: string,
    readonly then: unknown,
    readonly otherwise: unknown,
  ) {}
}

export const ABSENT = Symbol('absent');

/** The key of a configuration's values, which are JSON in a text. They are compared like other values. */
export const DOCUMENT = 'value in JSON';

export function withDocuments(tree: unknown): unknown {
  if (Array.isArray(tree)) return tree.map(withDocuments);
  if (!isPlainObject(tree)) return tree;
  const { name, value } = tree;
  if (name === variables.config) return { name, [DOCUMENT]: JSON.parse(String(value)) as unknown };
  return Object.fromEntries(Object.entries(tree).map(([key, child]) => [key, withDocuments(child)]));
}

const isTree = (value: unknown): value is JsonMap => isPlainObject(value) && !(value instanceof Either);

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** Returns `tree`, which is `base` with the differences of former conditions, with the differences of `other` as well. */
export function merge(tree: unknown, base: unknown, other: unknown, condition: string): unknown {
  if (base === other || same(base, other)) return tree;
  if (tree instanceof Either)
    return new Either(tree.condition, tree.then, merge(tree.otherwise, base, other, condition));
  if (isTree(tree) && isTree(base) && isTree(other)) return mergeMaps(tree, base, other, condition);
  return mergeLists(tree, base, other, condition) ?? new Either(condition, other, tree);
}

/** Returns undefined if one list does not continue the other one. */
function mergeLists(tree: unknown, base: unknown, other: unknown, condition: string): unknown[] | undefined {
  if (!Array.isArray(tree) || !Array.isArray(base) || !Array.isArray(other)) return undefined;
  if (base.length !== other.length && !continues(base, other)) return undefined;
  const at = (list: readonly unknown[], index: number) => (index < list.length ? list[index] : ABSENT);
  return Array.from({ length: Math.max(tree.length, other.length) }, (_, index) =>
    merge(at(tree, index), at(base, index), at(other, index), condition),
  );
}

/** Containers, volumes and mounts have names. */
const nameOf = (item: unknown): unknown => (isPlainObject(item) ? item['name'] : undefined);

const continues = (a: readonly unknown[], b: readonly unknown[]): boolean => {
  const common = Math.min(a.length, b.length);
  const names = a.slice(0, common).map(nameOf);
  return common > 0 && !names.includes(undefined) && same(names, b.slice(0, common).map(nameOf));
};

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

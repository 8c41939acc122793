import type { Workload } from './types.ts';
import { templateOf } from './workload.ts';

/**
 * The largest object that is decided about: some 2,000 environment variables, or 100 containers, or 320 KB of text. The
 * webhook has one thread for everybody, and anybody can send it anything; one of this size takes it less than 10 ms
 * (docs/performance.md), since every part of a decision is linear in what is counted here.
 */
const LARGEST = 10_000;
/** What weighs as much as one value: so many characters. */
const CHARACTERS = 32;
/** What a container weighs beside its fields: what is injected into it. */
const CONTAINER = 25;

/** How large an object is in words, where it is too large to be decided about; undefined where it is not. */
export function tooLarge(...objects: readonly (Workload | undefined)[]): string | undefined {
  const size = objects.reduce((largest, each) => Math.max(largest, each === undefined ? 0 : sizeOf(each)), 0);
  if (size <= LARGEST) return undefined;
  return `its labels, annotations and pod template come to more than ${LARGEST} (fields count 2, items 1, ${CHARACTERS} characters 1, containers ${CONTAINER})`;
}

/** What there is to look at in an object; past the bound it is not counted to the end. */
export function sizeOf(workload: Workload): number {
  const { labels, annotations } = workload.metadata;
  const template = templateOf(workload);
  return (template?.spec.containers.length ?? 0) * CONTAINER + weigh([labels, annotations, template]);
}

/** Without recursion, because JSON can be as deep as it is long. */
function weigh(root: unknown): number {
  const open = [root];
  let size = 0;
  while (open.length > 0 && size <= LARGEST) {
    const value = open.pop();
    if (typeof value === 'string') size += Math.floor(value.length / CHARACTERS);
    if (typeof value !== 'object' || value === null) continue;
    const map = value as Readonly<Record<string, unknown>>;
    const keyWeight = Array.isArray(value) ? 1 : 2;
    // Pairs of key and value would be made for each member of every review.
    for (const key of Object.keys(map)) {
      size += keyWeight + Math.floor(key.length / CHARACTERS);
      open.push(map[key]);
    }
  }
  return size;
}

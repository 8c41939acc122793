import type { JsonMap } from '../json/values.ts';
import type { Workload } from '../api/objects.ts';
import { templateOf } from './workload.ts';

/**
 * The largest object that is decided about: some 2,000 environment variables, or 100 containers, or 320 KB of text. The
 * webhook has one thread for everybody, and anybody can send it anything; one of this size takes it less than 10 ms
 * (docs/contributing/performance.md), since every part of a decision is linear in what is counted here.
 */
export const LARGEST = 10_000;
/** What weighs as much as one value: so many characters. */
const CHARACTERS = 32;
/** What a container weighs beside its fields: what is injected into it. */
const CONTAINER = 25;

export const tooLarge = `its labels, annotations and pod template count more than ${LARGEST} (2 per field, 1 per item, 1 per ${CHARACTERS} characters, ${CONTAINER} per container)`;

/**
 * Whether an injection could take an object of this size past the bound: a container of 28 gets some 50, the pod some 100, and
 * what gives way is kept, so that no object grows more than fourfold and by those 100.
 */
export const mayOutgrow = (size: number): boolean => size > LARGEST / 5;

/** What there is to look at in the largest of these; past the bound it is not counted to the end. */
export const sizeOf = (...objects: readonly (Workload | undefined)[]): number =>
  objects.reduce((largest, each) => Math.max(largest, each === undefined ? 0 : sizeOfOne(each)), 0);

function sizeOfOne(workload: Workload): number {
  const { labels, annotations } = workload.metadata;
  const template = templateOf(workload);
  return (template?.spec.containers.length ?? 0) * CONTAINER + weigh([labels, annotations, template]);
}

/** Without recursion, because JSON can be as deep as it is long. */
function weigh(root: readonly unknown[]): number {
  const open: unknown[] = [root];
  let size = 0;
  while (open.length > 0 && size <= LARGEST) {
    const value = open.pop();
    if (typeof value === 'string') size += Math.floor(value.length / CHARACTERS);
    else if (Array.isArray(value)) {
      size += value.length;
      for (const item of value) open.push(item);
    } else if (typeof value === 'object' && value !== null) size += weighMap(value as JsonMap, open);
  }
  return size;
}

/** The fields of a map; its values come to those that are open. Texts are most of all, and weighed on the spot. */
function weighMap(map: JsonMap, open: unknown[]): number {
  let size = 0;
  // Neither keys nor pairs are made into lists: it is done for each map of every review. JSON's maps inherit nothing that is listed.
  for (const key in map) {
    const value = map[key];
    size += 2 + Math.floor(key.length / CHARACTERS);
    if (typeof value === 'string') size += Math.floor(value.length / CHARACTERS);
    else open.push(value);
  }
  return size;
}

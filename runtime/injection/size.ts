import { isPlainObject } from '../json/values.ts';
import type { Workload } from '../api/objects.ts';
import { toTemplate } from './workload.ts';

/**
 * The limit of a decision, for less than 10 ms in the webhook's one thread (docs/contributing/performance.md).
 * Decisions are linear in the units that `tooLarge` lists: about 2,000 variables, 100 containers or 320 KB.
 */
export const LARGEST = 10_000;
const CHARACTERS = 32;
const CONTAINER = 25;

export const tooLarge = `its labels, annotations and pod template count more than ${LARGEST} (2 per field, 1 per item, 1 per ${CHARACTERS} characters, ${CONTAINER} per container)`;

export const isTooLarge = (workload: Workload | undefined): boolean =>
  workload !== undefined && getSize(workload) > LARGEST;

export function getSize(workload: Workload): number {
  const { labels, annotations } = workload.metadata;
  const template = toTemplate(workload);
  return (template?.spec.containers ?? []).length * CONTAINER + weigh([labels, annotations, template]);
}

/** Ends soon beyond the limit. */
function weigh(open: unknown[]): number {
  let size = 0;
  while (open.length > 0 && size <= LARGEST) {
    const value = open.pop();
    if (typeof value === 'string') size += Math.floor(value.length / CHARACTERS);
    else if (Array.isArray(value)) {
      size += value.length;
      for (const item of value) open.push(item);
    } else if (isPlainObject(value)) {
      // Makes no list of keys, because each review has many maps. Parsed JSON has no enumerable inherited keys.
      for (const key in value) {
        size += 2 + Math.floor(key.length / CHARACTERS);
        open.push(value[key]);
      }
    }
  }
  return size;
}

import { kindOf, templateOf } from './workload.ts';
import { equal } from './lists.ts';
import type { PatchOperation, Workload } from './types.ts';

/** The patch that makes `after` of `before`, limited to what the operator may change: labels, annotations, the pod template. */
export function workloadPatch(before: Workload, after: Workload): PatchOperation[] {
  const operations: PatchOperation[] = [];
  for (const part of ['labels', 'annotations'] as const)
    diffMember(before.metadata[part], after.metadata[part], `/metadata/${part}`, operations);
  const path = kindOf(before.apiVersion, before.kind)?.template ?? [];
  diffMember(templateOf(before), templateOf(after), path.map((step) => `/${step}`).join(''), operations);
  return operations;
}

/**
 * RFC 6902 operations that make `after` of `before`. Lists are compared from both ends, so that what was inserted or
 * taken out in one place costs one operation each and leaves its neighbours alone.
 */
export function diff(before: unknown, after: unknown, path = ''): PatchOperation[] {
  const operations: PatchOperation[] = [];
  diffValue(before, after, path, operations);
  return operations;
}

function diffMember(before: unknown, after: unknown, path: string, operations: PatchOperation[]): void {
  if (after === undefined) {
    if (before !== undefined) operations.push({ op: 'remove', path });
  } else if (before === undefined) operations.push({ op: 'add', path, value: after });
  else diffValue(before, after, path, operations);
}

function diffValue(before: unknown, after: unknown, path: string, operations: PatchOperation[]): void {
  if (before === after) return;
  if (Array.isArray(before) && Array.isArray(after)) diffLists(before, after, path, operations);
  else if (isMap(before) && isMap(after)) diffMaps(before, after, path, operations);
  else operations.push({ op: 'replace', path, value: after });
}

type Map = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Map => typeof value === 'object' && value !== null && !Array.isArray(value);

function diffMaps(before: Map, after: Map, path: string, operations: PatchOperation[]): void {
  for (const key of Object.keys(before))
    if (!Object.hasOwn(after, key) || after[key] === undefined)
      operations.push({ op: 'remove', path: `${path}/${escape(key)}` });
  for (const key of Object.keys(after))
    if (after[key] !== undefined) diffMember(ownMember(before, key), after[key], `${path}/${escape(key)}`, operations);
}

/** A label may be called `constructor`: what every object inherits is none of its members. */
const ownMember = (map: Map, key: string): unknown => (Object.hasOwn(map, key) ? map[key] : undefined);

function diffLists(
  before: readonly unknown[],
  after: readonly unknown[],
  path: string,
  operations: PatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && equal(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && equal(before[before.length - 1 - end], after[after.length - 1 - end])) end += 1;
  const [gone, come] = [before.length - start - end, after.length - start - end];
  const both = Math.min(gone, come);
  for (let index = start; index < start + both; index += 1)
    diffValue(before[index], after[index], `${path}/${index}`, operations);
  for (let index = start + gone - 1; index >= start + both; index -= 1)
    operations.push({ op: 'remove', path: `${path}/${index}` });
  for (let index = start + both; index < start + come; index += 1)
    operations.push({ op: 'add', path: `${path}/${end === 0 ? '-' : index}`, value: after[index] });
}

/** A key as a step of a JSON pointer. */
const escape = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

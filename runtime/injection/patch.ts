import { equal, isMap, type JsonMap } from './lists.ts';
import type { PatchOperation, Workload } from './types.ts';
import { templateOf, templatePath } from './workload.ts';

/**
 * The patch that makes `after` of `before`, limited to what the operator may change: labels, annotations, the pod template.
 * Lists are compared from both ends, so that what was inserted or taken out in one place costs one operation each and
 * leaves its neighbours alone.
 */
export function workloadPatch(before: Workload, after: Workload): PatchOperation[] {
  const path = templatePath(before) ?? [];
  const template = diffMember(templateOf(before), templateOf(after), path.map((step) => `/${step}`).join(''));
  // A pod is its own template.
  if (path.length === 0) return template;
  return [
    ...diffMember(before.metadata.labels, after.metadata.labels, '/metadata/labels'),
    ...diffMember(before.metadata.annotations, after.metadata.annotations, '/metadata/annotations'),
    ...template,
  ];
}

function diffMember(before: unknown, after: unknown, path: string): PatchOperation[] {
  if (after === undefined) return before === undefined ? [] : [{ op: 'remove', path }];
  return before === undefined ? [{ op: 'add', path, value: after }] : diffValue(before, after, path);
}

function diffValue(before: unknown, after: unknown, path: string): PatchOperation[] {
  if (before === after) return [];
  if (Array.isArray(before) && Array.isArray(after)) return diffLists(before, after, path);
  if (!isMap(before) || !isMap(after)) return [{ op: 'replace', path, value: after }];
  return diffMaps(before, after, path);
}

function diffMaps(before: JsonMap, after: JsonMap, path: string): PatchOperation[] {
  const operations: PatchOperation[] = [];
  for (const key of Object.keys(before)) {
    const value = before[key];
    // A label may be called `constructor`: what every object inherits is none of its members.
    const other = Object.hasOwn(after, key) ? after[key] : undefined;
    // What is shared, which is most of an object, costs no path.
    if (value !== other) operations.push(...diffMember(value, other, `${path}/${escape(key)}`));
  }
  for (const key of Object.keys(after))
    if (!Object.hasOwn(before, key)) operations.push(...diffMember(undefined, after[key], `${path}/${escape(key)}`));
  return operations;
}

function diffLists(before: readonly unknown[], after: readonly unknown[], path: string): PatchOperation[] {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && equal(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && equal(before[before.length - 1 - end], after[after.length - 1 - end])) end += 1;
  const [goneEnd, comeEnd] = [before.length - end, after.length - end];
  const bothEnd = Math.min(goneEnd, comeEnd);
  const operations = before
    .slice(start, bothEnd)
    .flatMap((item, index) => diffValue(item, after[start + index], `${path}/${start + index}`));
  for (let index = goneEnd - 1; index >= bothEnd; index -= 1)
    operations.push({ op: 'remove', path: `${path}/${index}` });
  for (let index = bothEnd; index < comeEnd; index += 1)
    operations.push({ op: 'add', path: `${path}/${end === 0 ? '-' : index}`, value: after[index] });
  return operations;
}

/** A key as a step of a JSON pointer. */
const escape = (key: string): string =>
  key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;

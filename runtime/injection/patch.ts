import { equal, isPlainObject, type JsonMap } from '../json/values.ts';
import type { PatchOperation, Workload } from '../api/objects.ts';
import { toTemplate, templatePath } from './workload.ts';

/** Returns a JSON patch of labels, annotations and the pod template. An item inserted in a list is one operation. */
export function workloadPatch(before: Workload, after: Workload): PatchOperation[] {
  const patch: PatchOperation[] = [];
  const place = (templatePath(before) ?? []).map((step) => `/${step}`).join('');
  if (place !== '') {
    diffMember(before.metadata.labels, after.metadata.labels, '/metadata/labels', patch);
    diffMember(before.metadata.annotations, after.metadata.annotations, '/metadata/annotations', patch);
  }
  diffMember(toTemplate(before), toTemplate(after), place, patch);
  return patch;
}

function diffMember(before: unknown, after: unknown, path: string, patch: PatchOperation[]): void {
  if (before === after) return;
  if (after === undefined) patch.push({ op: 'remove', path });
  else if (before === undefined) patch.push({ op: 'add', path, value: after });
  else if (Array.isArray(before) && Array.isArray(after)) diffLists(before, after, path, patch);
  else if (isPlainObject(before) && isPlainObject(after)) diffMaps(before, after, path, patch);
  else patch.push({ op: 'replace', path, value: after });
}

function diffMaps(before: JsonMap, after: JsonMap, path: string, patch: PatchOperation[]): void {
  for (const key in before) {
    const value = before[key];
    // A label may be called `constructor`, which every object inherits.
    const other = Object.hasOwn(after, key) ? after[key] : undefined;
    if (value !== other) diffMember(value, other, `${path}/${pointerStep(key)}`, patch);
  }
  for (const key in after)
    if (!Object.hasOwn(before, key)) diffMember(undefined, after[key], `${path}/${pointerStep(key)}`, patch);
}

function diffLists(before: readonly unknown[], after: readonly unknown[], path: string, patch: PatchOperation[]): void {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && equal(before[start], after[start])) start += 1;
  let end = 0;
  while (end < shorter - start && equal(before[before.length - 1 - end], after[after.length - 1 - end])) end += 1;
  const goneEnd = before.length - end;
  const comeEnd = after.length - end;
  const bothEnd = Math.min(goneEnd, comeEnd);
  for (let index = start; index < bothEnd; index += 1)
    diffMember(before[index], after[index], `${path}/${index}`, patch);
  for (let index = goneEnd - 1; index >= bothEnd; index -= 1) patch.push({ op: 'remove', path: `${path}/${index}` });
  for (let index = bothEnd; index < comeEnd; index += 1)
    patch.push({ op: 'add', path: `${path}/${end === 0 ? '-' : index}`, value: after[index] });
}

export const pointerStep = (key: string): string =>
  key.includes('~') || key.includes('/') ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;

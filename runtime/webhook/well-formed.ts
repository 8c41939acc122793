import { isMap } from '../injection/lists.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';

/**
 * Whether an object has the form that the API server gives to all that it sends, wherever the injection looks. Anybody else
 * may send a text of a megabyte as labels, which is a megabyte of members once it is copied like a map.
 */
export function isWellFormed(object: unknown): object is Workload {
  if (!isMap(object) || !isMetadata(object['metadata'])) return false;
  const template: unknown = templateOf(object as unknown as Workload);
  // One without a template is left alone.
  if (!isMap(template)) return true;
  const { metadata = {}, spec } = template;
  return isMetadata(metadata) && isMap(spec) && podLists.every(([name, check]) => isListOf(check)(spec[name]));
}

const isMetadata = (value: unknown): boolean =>
  isMap(value) &&
  isTexts(value['labels']) &&
  isTexts(value['annotations']) &&
  isListOf(isMap)(value['ownerReferences']);

const isTexts = (value: unknown): boolean =>
  value === undefined || (isMap(value) && Object.values(value).every((text) => typeof text === 'string'));

const isListOf = (check: (item: unknown) => boolean) => (value: unknown) =>
  value === undefined || (Array.isArray(value) && value.every(check));

const isNamed = (value: unknown): boolean => isMap(value) && typeof value['name'] === 'string';
const isMount = (value: unknown): boolean =>
  isNamed(value) && typeof (value as { mountPath?: unknown }).mountPath === 'string';

const isContainer = (value: unknown): boolean =>
  isNamed(value) &&
  isListOf(isNamed)((value as { env?: unknown }).env) &&
  isListOf(isMount)((value as { volumeMounts?: unknown }).volumeMounts);

const podLists: readonly (readonly [name: string, check: (item: unknown) => boolean])[] = [
  ['containers', isContainer],
  ['initContainers', isContainer],
  ['volumes', isNamed],
  ['imagePullSecrets', isMap],
];

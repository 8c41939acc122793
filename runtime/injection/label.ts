import { labels } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';
import { withoutEmpty } from '../json/values.ts';

/** Returns labels or annotations with this value, or without the key. */
export const withEntry = (map: Metadata['labels'], key: string, value: string | undefined) =>
  withoutEmpty({ ...map, [key]: value }, [key]) as NonNullable<Metadata['labels']>;

export const instrumentedPrefix = 'lumigo-operator.v';

export const isOurs = (value: string | undefined): boolean => value?.startsWith(instrumentedPrefix) === true;

export function ourLabel(metadata: Metadata | undefined): string | undefined {
  const value = metadata?.labels?.[labels.autoTrace];
  return isOurs(value) ? value : undefined;
}

/** The original operator's mark for its own webhook. If it is still there, it has no meaning. */
const leftByOriginal = 'skip-next-injector';

/** Returns the label as the user set it; `remembered` if the operator has replaced it. */
export function labelBefore(metadata: Metadata, remembered: string | undefined): string | undefined {
  const value = metadata.labels?.[labels.autoTrace];
  if (value === leftByOriginal) return undefined;
  return isOurs(value) ? remembered : value;
}

/** Returns a label value such as `lumigo-operator.v1.2.3`, with at most 63 characters. */
export function labelValue(version: string): string {
  const valid = `${instrumentedPrefix}${version.replace(/[^A-Za-z0-9._-]/g, '-')}`;
  return valid.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');
}

export const isLabelValue = (value: unknown): boolean =>
  typeof value === 'string' && /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/.test(value);

export const optedOut = (metadata: Metadata | undefined): boolean =>
  metadata?.labels?.[labels.autoTrace]?.toLowerCase() === 'false';

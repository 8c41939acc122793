import { labels } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';

/** The label `lumigo.auto-trace`: users opt out and in by it, and the operator marks by it what it has instrumented. */

/** Its value on what this operator instrumented is this prefix and the version. */
export const instrumentedPrefix = 'lumigo-operator.v';

/** Whether a value of the label says that the operator, or the original one, has instrumented what carries it. */
export const isOurs = (value: string | undefined): boolean => value?.startsWith(instrumentedPrefix) === true;

/** The label of metadata that the operator has instrumented; undefined where the user's own stands there, or none. */
export function ourLabel(metadata: Metadata | undefined): string | undefined {
  const value = metadata?.labels?.[labels.autoTrace];
  return isOurs(value) ? value : undefined;
}

/** By what the original operator told its own webhook to leave a workload alone once; where nobody took it away, it is nobody's. */
const leftByOriginal = 'skip-next-injector';

/** The label as the user set it: what stands there, unless it is ours, then what was remembered of theirs. */
export function labelBefore(metadata: Metadata, remembered: string | undefined): string | undefined {
  const value = metadata.labels?.[labels.autoTrace];
  if (value === leftByOriginal) return undefined;
  return isOurs(value) ? remembered : value;
}

/** `lumigo-operator.v1.2.3`; what a label cannot hold is replaced, and 63 characters are the most. */
export function labelValue(version: string): string {
  const valid = `${instrumentedPrefix}${version.replace(/[^A-Za-z0-9._-]/g, '-')}`;
  return valid.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');
}

/** Whether Kubernetes takes it as the value of a label. */
export const isLabelValue = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= 63 && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(value);

/** Whether the label says `false`, in any case. */
export const optedOut = (metadata: Metadata | undefined): boolean =>
  metadata?.labels?.[labels.autoTrace]?.toLowerCase() === 'false';

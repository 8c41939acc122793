import { labels } from '../contract.ts';
import { optedOut, parseStamp } from '../injection/stamp.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { isInstrumented, type WorkloadRecord } from './workload-store.ts';

/**
 * From metadata alone: whether a workload has to be read whole, because it may need a change. It errs towards reading;
 * `decide` has the last word. Jobs that are instrumented, and workloads that are going away, need nothing.
 */
export function needsInspection(record: WorkloadRecord, policy: NamespacePolicy): boolean {
  if (record.settled || record.deleting) return false;
  const touched = isInstrumented(record) || record.stamp !== undefined;
  if (optsOut(record)) return record.kind.mutable;
  switch (policy.state) {
    case 'active':
      return touched ? record.kind.mutable : policy.injectExisting || record.createdAt > policy.createdAt;
    case 'disabled':
    case 'deleting':
      return touched && policy.remove;
    case 'none':
      return (
        record.label?.toLowerCase() === 'true' ||
        (touched && record.kind.mutable && stampOf(record)?.userLabel === 'true')
      );
    case 'inactive':
      return false;
  }
}

const metadataOf = (record: WorkloadRecord) => ({
  labels: record.label === undefined ? {} : { [labels.autoTrace]: record.label },
});

const optsOut = (record: WorkloadRecord): boolean => optedOut(metadataOf(record));

/** What the operator wrote on the workload when it last changed it. */
export function stampOf(record: WorkloadRecord): ReturnType<typeof parseStamp> {
  return record.stamp === undefined ? undefined : parseStamp(record.stamp);
}

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
  if (optsOut(record)) return record.kind.mutable;
  const touched = isInstrumented(record) || record.stamp !== undefined;
  return touched ? needsRenewal(record, policy) : needsInjection(record, policy);
}

function needsInjection(record: WorkloadRecord, policy: NamespacePolicy): boolean {
  if (policy.state === 'active') return policy.injectExisting || record.createdAt > policy.createdAt;
  return policy.state === 'none' && record.label?.toLowerCase() === 'true';
}

function needsRenewal(record: WorkloadRecord, policy: NamespacePolicy): boolean {
  switch (policy.state) {
    case 'active':
      return record.kind.mutable;
    case 'disabled':
    case 'deleting':
      return policy.remove;
    case 'none':
      return record.kind.mutable && stampOf(record)?.userLabel?.toLowerCase() === 'true';
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

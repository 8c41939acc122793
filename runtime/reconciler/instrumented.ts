import { workloads } from '../contract.ts';
import type { InstrumentedResource } from '../injection/types.ts';
import { LISTED_RESOURCES } from './conditions.ts';
import { isInstrumented, type WorkloadRecord } from './workload-store.ts';

const kindOrder = new Map(workloads.map(({ kind }, index) => [kind as string, index]));

export interface Summary {
  readonly instrumented: readonly InstrumentedResource[];
  readonly instrumentedCount: number;
  readonly failed: number;
}

/** What a Lumigo's status tells of its namespace: sorted by kind and name, at most `LISTED_RESOURCES` listed, all counted. */
export function summarize(records: Iterable<WorkloadRecord>): Summary {
  const instrumented: WorkloadRecord[] = [];
  let failed = 0;
  for (const record of records) {
    if (isInstrumented(record) && !record.deleting) instrumented.push(record);
    if (record.problem !== undefined) failed += 1;
  }
  instrumented.sort(byKindAndName);
  return {
    instrumented: instrumented.slice(0, LISTED_RESOURCES).map(entryOf),
    instrumentedCount: instrumented.length,
    failed,
  };
}

function byKindAndName(a: WorkloadRecord, b: WorkloadRecord): number {
  const kinds = (kindOrder.get(a.kind.kind) ?? 0) - (kindOrder.get(b.kind.kind) ?? 0);
  if (kinds !== 0) return kinds;
  return a.name < b.name ? -1 : 1;
}

function entryOf(record: WorkloadRecord): InstrumentedResource {
  // First seen instrumented by this leader, with no entry from an earlier one.
  record.instrumentedVersion ??= record.resourceVersion;
  const { kind, name, namespace, uid, instrumentedVersion: resourceVersion } = record;
  return { apiVersion: kind.apiVersion, kind: kind.kind, name, namespace, resourceVersion, uid };
}

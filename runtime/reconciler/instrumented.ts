import { workloads } from '../contract.ts';
import type { InstrumentedResource } from '../injection/types.ts';
import { isInstrumented, type ObservedWorkload } from './observed.ts';

/** How many instrumented resources a status lists: some 250 KB, far below etcd's 1.5 MB for an object. */
export const LISTED_RESOURCES = 1_000;

const kindOrder = new Map(workloads.map(({ kind }, index) => [kind as string, index]));

/** What a Lumigo's status lists of its namespace: sorted by kind and name, the first `LISTED_RESOURCES` of them. */
export const listInstrumented = (observed: Iterable<ObservedWorkload>): InstrumentedResource[] =>
  [...observed]
    .filter((workload) => isInstrumented(workload) && !workload.deleting)
    .sort(byKindAndName)
    .slice(0, LISTED_RESOURCES)
    .map(entryOf);

function byKindAndName(a: ObservedWorkload, b: ObservedWorkload): number {
  const kinds = (kindOrder.get(a.kind.kind) ?? 0) - (kindOrder.get(b.kind.kind) ?? 0);
  if (kinds !== 0) return kinds;
  return a.name < b.name ? -1 : 1;
}

function entryOf({ kind, name, namespace, uid, ...workload }: ObservedWorkload): InstrumentedResource {
  const { resourceVersion, instrumentedVersion = resourceVersion } = workload;
  return { apiVersion: kind.apiVersion, kind: kind.kind, name, namespace, resourceVersion: instrumentedVersion, uid };
}

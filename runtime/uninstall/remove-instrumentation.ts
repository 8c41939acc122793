import { annotations, fieldManager, instrumentedPrefix, labels, workloads, type WorkloadKind } from '../contract.ts';
import { describeError } from '../errors.ts';
import { workloadPatch } from '../injection/patch.ts';
import { parseStamp } from '../injection/stamp.ts';
import { reasonOutOfReach } from '../injection/reach.ts';
import { uninstrument } from '../injection/uninstrument.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import { guarded, type Client } from '../kubernetes/client.ts';
import { isConflict, isNotFound } from '../kubernetes/errors.ts';

export interface Removal {
  readonly removed: number;
  /** A sentence for each workload that stays instrumented. */
  readonly problems: readonly string[];
}

const PAGE_SIZE = 50;
const ATTEMPTS = 5;

/**
 * Takes the injection out of every workload of a namespace (or, without one, of the cluster) that `wanted` picks. One
 * that fails stops no other. Jobs cannot change and are left as they are.
 */
export async function removeInstrumentation(
  client: Client,
  where: { namespace?: string; wanted: (workload: Workload) => boolean },
): Promise<Removal> {
  const problems: string[] = [];
  let removed = 0;
  for (const kind of workloads.filter(({ mutable }) => mutable))
    for await (const workload of instrumentedWorkloads(client, kind, where.namespace)) {
      if (!where.wanted(workload)) continue;
      const { namespace, name } = workload.metadata;
      const done = await removeFrom(client, kind, workload).catch(describeError);
      if (typeof done === 'string') problems.push(`${kind.kind} ${namespace}/${name} stays instrumented: ${done}`);
      else if (done) removed += 1;
    }
  return { removed, problems };
}

/** Whether there is any workload in the cluster that is instrumented and that `wanted` picks. */
export async function isAnyInstrumented(client: Client, wanted: (workload: Workload) => boolean): Promise<boolean> {
  for (const kind of workloads.filter(({ mutable }) => mutable))
    for await (const workload of instrumentedWorkloads(client, kind, undefined)) if (wanted(workload)) return true;
  return false;
}

/** Whether it was instrumented on its own label's behalf, without a Lumigo. */
export const isOptedIn = (workload: Workload): boolean =>
  parseStamp(workload.metadata.annotations?.[annotations.instrumentation])?.userLabel?.toLowerCase() === 'true';

async function* instrumentedWorkloads(client: Client, kind: WorkloadKind, namespace: string | undefined) {
  const options = { limit: PAGE_SIZE, labelSelector: labels.autoTrace };
  for await (const { items } of client.pages({ ...kind, namespace }, options))
    for (const item of items) {
      const workload: Workload = { ...item, apiVersion: kind.apiVersion, kind: kind.kind };
      if (isInstrumented(workload) && isWithinReach(workload)) yield workload;
    }
}

/** A Deployment's ReplicaSets carry its pod template's label and are the Deployment's own matter. */
const isWithinReach = (workload: Workload): boolean =>
  reasonOutOfReach(workload, 'RECONCILE', templateOf(workload)) === undefined;

const isInstrumented = ({ metadata }: Workload): boolean =>
  metadata.labels?.[labels.autoTrace]?.startsWith(instrumentedPrefix) === true;

async function removeFrom(client: Client, kind: WorkloadKind, listed: Workload): Promise<boolean> {
  const { namespace, name } = listed.metadata;
  const ref = { ...kind, namespace, name };
  let workload = listed;
  for (let attempt = 1; ; attempt += 1)
    try {
      const before = { ...workload, apiVersion: kind.apiVersion, kind: kind.kind };
      const patch = workloadPatch(before, uninstrument(before));
      if (patch.length === 0) return false;
      const { resourceVersion = '' } = workload.metadata;
      await client.patch(ref, guarded(resourceVersion, patch), { fieldManager, metadataOnly: true });
      return true;
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      workload = (await client.get(ref)) as Workload;
    }
}

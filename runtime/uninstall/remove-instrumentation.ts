import { fieldManager, labels, workloads, type WorkloadKind } from '../contract.ts';
import { describeError } from '../errors.ts';
import { ourLabel } from '../injection/label.ts';
import { workloadPatch } from '../injection/patch.ts';
import { stampOf } from '../injection/stamp.ts';
import { outOfReach } from '../injection/reach.ts';
import { uninstrument } from '../injection/remove.ts';
import type { Workload } from '../injection/types.ts';
import { guarded, type Client } from '../kubernetes/client.ts';
import { readAndChange } from '../kubernetes/on-conflict.ts';

export interface Removal {
  readonly removed: number;
  /** A sentence for each workload that stays instrumented. */
  readonly problems: readonly string[];
}

const PAGE_SIZE = 50;

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
  stampOf(workload.metadata)?.userLabel?.toLowerCase() === 'true';

/** Whether it is to stay instrumented, as the Lumigo that is gone has said; one without our stamp is not ours to judge. */
export const isToStay = ({ metadata }: Workload): boolean => {
  const stamp = stampOf(metadata);
  return stamp === undefined || stamp.keep === true;
};

async function* instrumentedWorkloads(client: Client, kind: WorkloadKind, namespace: string | undefined) {
  const options = { limit: PAGE_SIZE, labelSelector: labels.autoTrace };
  for await (const { items } of client.pages({ ...kind, namespace }, options))
    for (const item of items) {
      const workload: Workload = { ...item, apiVersion: kind.apiVersion, kind: kind.kind };
      if (isInstrumented(workload) && isWithinReach(workload)) yield workload;
    }
}

/** A Deployment's ReplicaSets carry its pod template's label and are the Deployment's own matter. */
const isWithinReach = (workload: Workload): boolean => outOfReach({ workload, operation: 'RECONCILE' }) === undefined;

const isInstrumented = ({ metadata }: Workload): boolean => ourLabel(metadata) !== undefined;

async function removeFrom(client: Client, kind: WorkloadKind, listed: Workload): Promise<boolean> {
  const { namespace, name } = listed.metadata;
  const ref = { ...kind, namespace, name };
  const remove = async (workload: Workload): Promise<boolean> => {
    const before = { ...workload, apiVersion: kind.apiVersion, kind: kind.kind };
    const patch = workloadPatch(before, uninstrument(before));
    if (patch.length === 0) return false;
    const { resourceVersion = '' } = workload.metadata;
    await client.patch(ref, guarded(resourceVersion, patch), { fieldManager, metadataOnly: true });
    return true;
  };
  const read = async () => (await client.get(ref)) as Workload;
  return (await readAndChange(listed, read, remove)) ?? false;
}

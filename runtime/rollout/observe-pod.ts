import { annotations } from '../contract.ts';
import type { Metadata } from '../injection/types.ts';
import { digest } from '../wording/digest.ts';
import { evidenceIn, type PodStatus } from './evidence.ts';
import type { ObservedPod } from './trial.ts';

/** A pod, as the API server sends it. */
interface Pod {
  readonly metadata: Metadata;
  readonly status?: PodStatus & { readonly conditions?: readonly PodCondition[] };
}

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime?: string;
}

/** A pod by the workload it is of (`Kind/name`); undefined for one of none, and for one that is going. */
export function observePod({
  metadata,
  status = {},
}: Pod): { readonly of: string; readonly pod: ObservedPod } | undefined {
  const of = workloadOf(metadata);
  if (of === undefined || metadata.deletionTimestamp !== undefined) return undefined;
  const record = metadata.annotations?.[annotations.injection];
  return {
    of,
    pod: {
      ...{ name: metadata.name ?? '', uid: metadata.uid ?? '' },
      record: record === undefined ? undefined : digest(record),
      readySince: readySince(status.conditions),
      evidence: evidenceIn(status),
    },
  };
}

/** Since when a pod is ready, in milliseconds since 1970; undefined while it is not. */
export function readySince(conditions: readonly PodCondition[] = []): number | undefined {
  const ready = conditions.find((each) => each.type === 'Ready' && each.status === 'True');
  return ready === undefined ? undefined : Date.parse(ready.lastTransitionTime ?? '') || 0;
}

/** By which label the pods of a kind's ReplicaSets show what stands after the kind's name in those of its ReplicaSets. */
const hashes = [
  ['pod-template-hash', 'Deployment'],
  ['rollouts-pod-template-hash', 'Rollout'],
] as const;

/** Which workload a pod is of (`Kind/name`), through its ReplicaSet, whose name ends in the hash of the template; undefined for one of none. */
export function workloadOf({ ownerReferences = [], labels = {} }: Metadata): string | undefined {
  const owner = ownerReferences.find(({ controller }) => controller === true);
  if (owner?.kind !== 'ReplicaSet') return owner && `${owner.kind}/${owner.name}`;
  for (const [label, kind] of hashes) {
    const ending = `-${labels[label]}`;
    if (labels[label] !== undefined && owner.name.endsWith(ending))
      return `${kind}/${owner.name.slice(0, -ending.length)}`;
  }
  return `ReplicaSet/${owner.name}`;
}

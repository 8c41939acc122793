import { workloadKinds } from '../../contract.ts';
import { mapAt } from '../../json/values.ts';
import type { Metadata, Workload } from '../../api/objects.ts';
import type { Client } from '../http/client.ts';

export interface PodIdentity {
  readonly labelSelector: string;
  /** The uid of their controller; undefined: any. */
  readonly owner?: string;
}

/** Others may have the same labels. A look reads at most 1,000 of a kind, because a tenant can have any number. */
export const lookLimits = { limit: 50, maxPages: 20 } as const;

type Find = (workload: Workload, client: Client) => Promise<PodIdentity | undefined> | PodIdentity | undefined;

const byLabel =
  (label: string, value: (workload: Workload) => unknown): Find =>
  (workload) => {
    const found = value(workload);
    if (typeof found !== 'string') return undefined;
    return { labelSelector: getSelector(workload, { [label]: found }), owner: workload.metadata.uid ?? '' };
  };

const finders: Readonly<Record<string, Find>> = {
  Deployment: newestReplicaSet,
  StatefulSet: byLabel('controller-revision-hash', (workload) => mapAt(workload, 'status')['updateRevision']),
  DaemonSet: byLabel(
    'pod-template-generation',
    ({ metadata }) => metadata.annotations?.['deprecated.daemonset.template.generation'],
  ),
  Rollout: (workload) => {
    const hash = mapAt(workload, 'status')['currentPodHash'];
    return typeof hash === 'string' ? { labelSelector: `rollouts-pod-template-hash=${hash}` } : undefined;
  },
};

async function newestReplicaSet(workload: Workload, client: Client): Promise<PodIdentity | undefined> {
  const { namespace, uid } = workload.metadata;
  let newest: Metadata | undefined;
  let pages = 0;
  const options = { metadataOnly: true, labelSelector: getSelector(workload), limit: lookLimits.limit };
  for await (const { items } of client.pages({ ...workloadKinds.replicaSet, namespace }, options)) {
    pages += 1;
    if (pages > lookLimits.maxPages) return undefined;
    for (const { metadata } of items.filter((each) => isOwnedBy(each.metadata, uid)))
      if (getRevision(metadata) > getRevision(newest)) newest = metadata;
  }
  const hash = newest?.labels?.['pod-template-hash'];
  return hash === undefined ? undefined : { labelSelector: `pod-template-hash=${hash}`, owner: newest?.uid ?? '' };
}

/** Several DaemonSets have pods of the same generation, so the labels of their own narrow the list. */
export const getSelector = (workload: Workload, more: Metadata['labels'] = {}): string =>
  Object.entries({ ...mapAt(mapAt(mapAt(workload, 'spec'), 'selector'), 'matchLabels'), ...more })
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');

export const isOwnedBy = ({ ownerReferences = [] }: Metadata, uid: string | undefined): boolean =>
  ownerReferences.some((owner) => owner.controller === true && owner.uid === uid);

const followers: Readonly<Record<string, readonly [kind: string, suffix: RegExp]>> = {
  Deployment: ['ReplicaSet', /-[^-]+$/],
  Rollout: ['ReplicaSet', /-[^-]+$/],
  CronJob: ['Job', /-\d+$/],
};

/** ReplicaSets and Jobs that follow a workload have its name and a suffix. */
export function isPodOf({ kind, metadata: { uid, name } }: Workload, { ownerReferences = [] }: Metadata): boolean {
  const [follower, suffix = ''] = followers[kind] ?? [];
  return ownerReferences.some((o) => o.uid === uid || (o.kind === follower && o.name.replace(suffix, '') === name));
}

const getRevision = (metadata: Metadata | undefined): number =>
  Number(metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? -1);

/** Returns undefined if the controller has not seen the generation yet. */
export async function getPodIdentity(workload: Workload, client: Client): Promise<PodIdentity | undefined> {
  const { generation = 0 } = workload.metadata;
  // Argo Rollouts write the generation as a string.
  const isSeen = Number(mapAt(workload, 'status')['observedGeneration'] ?? 0) >= generation;
  return isSeen ? finders[workload.kind]?.(workload, client) : undefined;
}

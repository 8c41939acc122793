import { annotations, injector, labels, pods, workloads } from '../contract.ts';
import type { Metadata, Workload } from '../injection/types.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { KubernetesObject } from '../kubernetes/resources/objects.ts';
import { completionOf, mapAt } from '../rollout/completion.ts';
import type { PodStatus } from '../rollout/evidence.ts';
import type { LookedAtPod } from '../rollout/look.ts';

/** How the pods of one generation of a workload are found: by the identity that their controller gave them. */
interface Identity {
  readonly labelSelector: string;
  /** The uid of their controller; undefined where any pod with the injection shows what is asked for. */
  readonly owner?: string;
}

const replicaSets = workloads[3];
/** Pods of a page. Where none is available, more of them say nothing that these do not say. */
const MOST_PODS = 20;

type Find = (workload: Workload, client: Client) => Promise<Identity | undefined> | Identity | undefined;

const byLabel =
  (label: string, value: (workload: Workload) => unknown): Find =>
  (workload) => {
    const found = value(workload);
    const { uid } = workload.metadata;
    return typeof found === 'string' && uid !== undefined
      ? { labelSelector: `${label}=${found}`, owner: uid }
      : undefined;
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

/** Its newest ReplicaSet has the pod template that the Deployment has now. */
async function newestReplicaSet(workload: Workload, client: Client): Promise<Identity | undefined> {
  const { namespace, uid } = workload.metadata;
  let newest: Metadata | undefined;
  const options = { metadataOnly: true, labelSelector: selectorOf(workload) };
  for await (const { items } of client.pages({ ...replicaSets, namespace }, options))
    for (const { metadata } of items)
      if (isOwnedBy(metadata, uid) && revisionOf(metadata) > revisionOf(newest)) newest = metadata;
  const hash = newest?.labels?.['pod-template-hash'];
  return newest === undefined || hash === undefined
    ? undefined
    : { labelSelector: `pod-template-hash=${hash}`, owner: newest.uid ?? '' };
}

/** The labels by which a workload finds what it owns; owners are compared beside them. */
const selectorOf = (workload: Workload): string =>
  Object.entries(mapAt(mapAt(mapAt(workload, 'spec'), 'selector'), 'matchLabels'))
    .map(([key, value]) => `${key}=${String(value)}`)
    .join(',');

const isOwnedBy = ({ ownerReferences = [] }: Metadata, uid: string | undefined): boolean =>
  ownerReferences.some((owner) => owner.controller === true && owner.uid === uid);

const revisionOf = (metadata: Metadata | undefined): number =>
  Number(metadata?.annotations?.['deployment.kubernetes.io/revision'] ?? -1);

/** Lists some pods of the generation that a whole workload has now; none while its controller has not seen that generation. */
export async function podsOfGeneration(workload: Workload, client: Client): Promise<LookedAtPod[]> {
  const { namespace = '', generation = 0 } = workload.metadata;
  const isTested = completionOf(workload).kind !== 'no-pods';
  // Argo's Rollouts write the generation as a text.
  if (isTested && Number(mapAt(workload, 'status')['observedGeneration'] ?? 0) < generation) return [];
  const identity = isTested ? await finders[workload.kind]?.(workload, client) : { labelSelector: labels.autoTrace };
  if (identity === undefined) return [];
  const options = { labelSelector: identity.labelSelector, limit: MOST_PODS };
  for await (const { items } of client.pages({ ...pods, namespace }, options))
    return items.filter(({ metadata }) => isLookedAt(metadata, identity)).map(lookedAt);
  return [];
}

/** Lists the pods of a StatefulSet that have an injection and are not ready: its controller waits for them without end. */
export async function brokenPods(workload: Workload, client: Client): Promise<readonly Metadata[]> {
  const { namespace = '', uid = '' } = workload.metadata;
  const broken: Metadata[] = [];
  const options = { labelSelector: selectorOf(workload), limit: MOST_PODS };
  for await (const { items } of client.pages({ ...pods, namespace }, options))
    for (const pod of items) if (isLookedAt(pod.metadata, { owner: uid }) && !isReady(pod)) broken.push(pod.metadata);
  return broken;
}

const isLookedAt = (metadata: Metadata, { owner }: Partial<Identity>): boolean =>
  metadata.deletionTimestamp === undefined &&
  metadata.annotations?.[annotations.injection] !== undefined &&
  (owner === undefined || isOwnedBy(metadata, owner));

interface Pod {
  readonly metadata: Metadata;
  readonly spec?: { readonly containers?: readonly { name: string; volumeMounts?: readonly { name: string }[] }[] };
  readonly status?: PodStatus & { readonly conditions?: readonly { type: string; status: string }[] };
}

const isReady = (pod: KubernetesObject): boolean =>
  (pod as Pod).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

function lookedAt(pod: KubernetesObject): LookedAtPod {
  const { metadata, spec, status = {} } = pod as Pod;
  const injected = (spec?.containers ?? []).filter(({ volumeMounts = [] }) =>
    volumeMounts.some(({ name }) => name === injector.volume),
  );
  return {
    ...{ name: metadata.name ?? '', isReady: isReady(pod), status },
    injected: new Set(injected.map(({ name }) => name)),
  };
}

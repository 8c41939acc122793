import { annotations, injector, labels, pods } from '../contract.ts';
import type { Metadata, PodSpec, Workload } from '../api/objects.ts';
import { findInjector } from '../injection/intact.ts';
import { hasInjection } from '../injection/remove.ts';
import { toTemplate } from '../injection/workload.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { KubernetesObject } from '../kubernetes/resources/objects.ts';
import { isOwnedBy, getPodIdentity, getSelector, type PodIdentity } from '../kubernetes/resources/pod-identity.ts';
import { getCompletion } from '../rollout/completion.ts';
import type { LookedAtPod, PodStatus } from '../rollout/evidence.ts';

/** A page. If no pod is available, more of them show nothing else. */
const MAX_PODS = 20;

export async function podsOfGeneration(workload: Workload, client: Client): Promise<LookedAtPod[]> {
  const { namespace } = workload.metadata;
  const isTested = getCompletion(workload).kind !== 'no-pods';
  const identity = isTested ? await getPodIdentity(workload, client) : { labelSelector: labels.autoTrace };
  if (identity === undefined) return [];
  const options = { labelSelector: identity.labelSelector, limit: MAX_PODS };
  for await (const { items } of client.pages({ ...pods, namespace }, options)) {
    const shown = items.filter(
      (pod) => isLookedAt(pod.metadata, identity) && (isTested || hasInjectorOf(workload, pod)),
    );
    const own = shown.filter(({ metadata }) => isTested || isOf(workload, metadata));
    // Without own pods, those of others show if the injector runs.
    return (own.length > 0 ? own : shown).map((pod) => lookedAt(pod, own.length > 0));
  }
  return [];
}

/** The jobs of a CronJob have its name and the time. */
const isOf = ({ kind, metadata: { uid, name } }: Workload, { ownerReferences = [] }: Metadata): boolean =>
  ownerReferences.some((o) => o.uid === uid || `Cron${o.kind} ${o.name.replace(/-\d+$/, '')}` === `${kind} ${name}`);

/** Lists injected pods, not ready, of a StatefulSet without the injection. Its controller waits for them without end. */
export async function brokenPods(workload: Workload, client: Client): Promise<readonly Metadata[]> {
  if (hasInjection(workload)) return [];
  const { namespace, uid: owner = '' } = workload.metadata;
  const broken: Metadata[] = [];
  const options = { labelSelector: getSelector(workload), limit: MAX_PODS };
  for await (const { items } of client.pages({ ...pods, namespace }, options))
    for (const pod of items) if (isLookedAt(pod.metadata, { owner }) && !isReady(pod)) broken.push(pod.metadata);
  return broken;
}

const isLookedAt = (metadata: Metadata, { owner }: Partial<PodIdentity>): boolean =>
  metadata.deletionTimestamp === undefined &&
  metadata.annotations?.[annotations.injection] !== undefined &&
  (owner === undefined || isOwnedBy(metadata, owner));

/** Another image shows nothing about this one. */
const hasInjectorOf = (workload: Workload, pod: KubernetesObject): boolean =>
  findInjector((pod as Pod).spec)?.image === findInjector(toTemplate(workload)?.spec)?.image;

interface Pod {
  readonly metadata: Metadata;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus & { readonly conditions?: readonly { type: string; status: string }[] };
}

const isReady = (pod: KubernetesObject): boolean =>
  (pod as Pod).status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

function lookedAt(pod: KubernetesObject, isOwn: boolean): LookedAtPod {
  const { metadata, spec, status = {} } = pod as Pod;
  const injected = (spec?.containers ?? []).filter(
    ({ volumeMounts = [] }) => isOwn && volumeMounts.some(({ name }) => name === injector.volume),
  );
  return {
    name: metadata.name ?? '',
    isReady: isReady(pod),
    injected: new Set(injected.map(({ name }) => name)),
    status,
  };
}

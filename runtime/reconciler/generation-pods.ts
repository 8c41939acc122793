import { annotations, injector, labels, pods } from '../contract.ts';
import type { Container, Metadata, PodSpec, Workload } from '../api/objects.ts';
import { findInjector } from '../injection/init-container.ts';
import { hasInjection } from '../injection/remove.ts';
import { toTemplate } from '../injection/workload.ts';
import type { Client } from '../kubernetes/http/client.ts';
import {
  isOwnedBy,
  isPodOf,
  getPodIdentity,
  getSelector,
  type PodIdentity,
} from '../kubernetes/resources/pod-identity.ts';
import { getCompletion } from '../rollout/completion.ts';
import type { LookedAtPod, PodStatus } from '../rollout/evidence.ts';

/** If none of them is available, more pods show nothing else. */
const MAX_PODS = 20;
/** Other workloads may have the same labels. A look reads at most 1,000 pods, because a tenant can have any number. */
const [PAGE_SIZE, MAX_PAGES] = [50, 20];

export async function podsOfGeneration(workload: Workload, client: Client): Promise<LookedAtPod[]> {
  if (getCompletion(workload).kind !== 'no-pods') {
    const identity = await getPodIdentity(workload, client);
    if (identity === undefined) return [];
    const found = await findPods(workload, client, identity.labelSelector, (pod) => isLookedAt(pod, identity));
    return found.map((pod) => lookedAt(pod, true));
  }
  const { labels: own, annotations: { [annotations.injection]: record } = {} } = toTemplate(workload)?.metadata ?? {};
  // Another webhook may change the image of pods. The record is as in the template.
  const isOwn = ({ metadata }: Pod) =>
    metadata.annotations?.[annotations.injection] === record && isPodOf(workload, metadata);
  const owned = await findPods(
    workload,
    client,
    getSelector(workload, own),
    (pod) => isLookedAt(pod, {}) && isOwn(pod),
  );
  // Without own pods, those of others show if the injector runs.
  const isShown = (pod: Pod) => isLookedAt(pod, {}) && hasInjectorOf(workload, pod);
  const shown = owned.length > 0 ? owned : await findPods(workload, client, labels.autoTrace, isShown);
  return shown.map((pod) => lookedAt(pod, owned.length > 0));
}

async function findPods(of: Workload, client: Client, labelSelector: string, isFound: (pod: Pod) => boolean) {
  const found: Pod[] = [];
  let pages = 0;
  const options = { labelSelector, limit: PAGE_SIZE };
  for await (const { items } of client.pages({ ...pods, namespace: of.metadata.namespace }, options)) {
    found.push(...(items as readonly Pod[]).filter(isFound));
    pages += 1;
    if (found.length >= MAX_PODS || pages === MAX_PAGES) break;
  }
  return found.slice(0, MAX_PODS);
}

/** Lists injected pods, not ready, of a StatefulSet without the injection. Its controller waits for them without end. */
export async function brokenPods(workload: Workload, client: Client): Promise<readonly Metadata[]> {
  if (hasInjection(workload)) return [];
  const { uid: owner = '' } = workload.metadata;
  const isBroken = (pod: Pod) => isLookedAt(pod, { owner }) && !isReady(pod);
  return (await findPods(workload, client, getSelector(workload), isBroken)).map(({ metadata }) => metadata);
}

const isLookedAt = ({ metadata }: Pod, { owner }: Partial<PodIdentity>): boolean =>
  metadata.deletionTimestamp === undefined &&
  metadata.annotations?.[annotations.injection] !== undefined &&
  (owner === undefined || isOwnedBy(metadata, owner));

/** Another image shows nothing about this one. */
const hasInjectorOf = (workload: Workload, { spec }: Pod): boolean =>
  findInjector(spec)?.image === findInjector(toTemplate(workload)?.spec)?.image;

interface Pod {
  readonly metadata: Metadata;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus & { readonly conditions?: readonly { type: string; status: string }[] };
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;

function lookedAt(pod: Pod, isOwn: boolean): LookedAtPod {
  const { metadata, spec: { containers = [] } = {}, status = {} } = pod;
  const isInjected = ({ volumeMounts = [] }: Container) => volumeMounts.some(({ name }) => name === injector.volume);
  const injected = new Set(containers.filter((each) => isOwn && isInjected(each)).map(({ name }) => name));
  return { name: metadata.name ?? '', isReady: isReady(pod), injected, status };
}

import { annotations, injector, pods, workloadKinds } from '../contract.ts';
import type { Container, Metadata, PodSpec, Workload } from '../api/objects.ts';
import { mapAt, numberAt } from '../json/values.ts';
import { getInjectionStatus } from '../injection/injection-status.ts';
import { getOriginalState } from '../injection/original-state.ts';
import { hasInjection } from '../injection/remove.ts';
import { toTemplate } from '../injection/workload.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isOwnedBy, isPodOf, getPodIdentity, getSelector, lookLimits } from '../kubernetes/resources/pod-identity.ts';
import { getCompletion, getPartition } from '../rollout/completion.ts';
import { look, type Look, type LookedAtPod, type PodStatus } from '../rollout/evidence.ts';

/** If none of them is available, more pods show nothing else. */
const MAX_PODS = 20;
/** Characters of JSON, of which a usual pod has 3,000. An image has a name of any length, and a status repeats it. */
const MAX_STATUS = 65_536;

export async function lookAt(workload: Workload, client: Client): Promise<Look> {
  const found = await podsOfGeneration(workload, client);
  return look(found, found.length === 0 ? await newestJob(workload, client) : undefined);
}

/** A CronJob's status names its running Jobs. One of a former pod template shows nothing about the present one. */
async function newestJob(workload: Workload, client: Client): Promise<Workload | undefined> {
  if (workload.kind === 'Job') return workload;
  const { active, lastSuccessfulTime } = mapAt(workload, 'status');
  const name = (active as readonly Metadata[] | undefined)?.at(-1)?.name;
  const record = getRecord(workload);
  const { namespace } = workload.metadata;
  // After a success with the injection, a quota may delay the next Job.
  const hasRun = Date.parse(lastSuccessfulTime as string) > Date.parse(getInjectionStatus(workload.metadata)?.at ?? '');
  if (name === undefined || record === undefined || hasRun) return undefined;
  const job = (await client.find({ ...workloadKinds.job, namespace, name })) as Workload | undefined;
  return getRecord(job) === record ? job : undefined;
}

const getRecord = (found?: Workload) => found && toTemplate(found)?.metadata?.annotations?.[annotations.injection];

export async function podsOfGeneration(workload: Workload, client: Client): Promise<LookedAtPod[]> {
  const { labels: own, annotations: { [annotations.injection]: record } = {} } = toTemplate(workload)?.metadata ?? {};
  // An adopted injection of the original has no record, and neither have its pods.
  if (record === undefined) return [];
  if (getCompletion(workload).kind !== 'no-pods') {
    const identity = await getPodIdentity(workload, client);
    if (identity === undefined) return [];
    return findPods(workload, client, identity.labelSelector, (pod) => isLookedAt(pod, identity.owner));
  }
  // Another webhook may change the image of pods. The record is as in the template.
  const hasRecord = ({ metadata }: Pod) => metadata.annotations?.[annotations.injection] === record;
  const isOwn = (pod: Pod) => isLookedAt(pod) && hasRecord(pod) && isPodOf(workload, pod.metadata);
  return findPods(workload, client, getSelector(workload, own), isOwn);
}

/** Keeps the bounded part of each pod, because a tenant decides the size of the rest. */
async function findPods(of: Workload, client: Client, selector: string, isFound: (pod: Pod) => boolean) {
  const found: ReturnType<typeof lookedAt>[] = [];
  const options = { ...lookLimits, labelSelector: selector };
  for await (const { items } of client.pages({ ...pods, namespace: of.metadata.namespace }, options)) {
    found.push(...(items as readonly Pod[]).filter(isFound).map(lookedAt));
    if (found.length >= MAX_PODS) break;
  }
  return found.slice(0, MAX_PODS);
}

/** Lists the pods, not ready, of a StatefulSet's former injection, for which it waits without end. Pod mode records no image. */
export async function brokenPods(workload: Workload, client: Client): Promise<Pick<Metadata, 'name' | 'uid'>[]> {
  if (hasInjection(workload)) return [];
  const isOwn = (pod: Pod) => isLookedAt(pod, workload.metadata.uid ?? '');
  const spec = mapAt(workload, 'spec');
  const first = getPartition(spec) + numberAt(mapAt(spec, 'ordinals'), 'start');
  const { currentRevision } = mapAt(workload, 'status');
  // Below a partition, the controller makes the same pod again.
  const stays = ({ metadata: { labels, name } }: Pod) =>
    labels?.['controller-revision-hash'] === currentRevision && Number(/\d+$/.exec(name ?? '')) < first;
  const isBroken = (pod: Pod) =>
    isOwn(pod) && !isReady(pod) && !stays(pod) && getOriginalState(pod)?.image !== undefined;
  return findPods(workload, client, getSelector(workload), isBroken);
}

/** A controller replaces a pod that its node refused, evicted or shut down. A Job's pod may show that the injector ran. */
const isLookedAt = ({ metadata, status }: Pod, owner?: string): boolean =>
  !(owner !== undefined && status?.phase === 'Failed' && status.reason !== undefined) &&
  metadata.deletionTimestamp === undefined &&
  metadata.annotations?.[annotations.injection] !== undefined &&
  (owner === undefined || isOwnedBy(metadata, owner));

interface Pod {
  readonly metadata: Metadata;
  readonly spec?: Partial<PodSpec>;
  readonly status?: PodStatus & { readonly conditions?: readonly { type: string; status: string }[] };
}

const isReady = ({ status }: Pod): boolean =>
  status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') === true;

function lookedAt(pod: Pod) {
  const { metadata, spec: { containers = [], initContainers = [] } = {}, status = {} } = pod;
  const isInjected = ({ name, volumeMounts = [] }: Container) =>
    name !== injector.container && volumeMounts.some((mount) => mount.name === injector.volume);
  const injected = [...containers, ...initContainers].filter(isInjected).map((each) => each.name);
  const isLarge = JSON.stringify([injected, status]).length > MAX_STATUS;
  const kept = isLarge ? { injected: new Set<string>(), status: {} } : { injected: new Set(injected), status };
  return { name: metadata.name ?? '', uid: metadata.uid ?? '', isReady: isReady(pod), ...kept };
}

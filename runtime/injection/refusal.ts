import { environment, injector } from '../contract.ts';
import { lastNamed } from './lists.ts';
import { reasonOfMounts } from './mounts.ts';
import { parseQuantity } from './quantity.ts';
import type { Container, PodSpec } from './types.ts';

/** The injector's volume and some room: a pod whose `ephemeral-storage` limit is below this would be evicted. */
const NEEDED_STORAGE = 250e6;

/** Why a container of this pod is left as it is, in a sentence that names it; undefined when it can be injected into. */
export function reasonToLeaveAlone(container: Container, spec: PodSpec): string | undefined {
  const reason = reasonOfPreload(container) ?? reasonOfMounts(container, spec);
  return reason === undefined ? undefined : `container '${container.name}' is left alone: ${reason}`;
}

const reasonOfPreload = ({ env }: Container): string | undefined =>
  lastNamed(env, environment.preload)?.valueFrom === undefined
    ? undefined
    : `its ${environment.preload} comes from elsewhere (valueFrom), and cannot be joined with the injector's`;

/** Why a pod cannot be injected into at all; undefined when it can. Expects a pod without an injection of ours. */
export function reasonToRefuse(spec: PodSpec): string | undefined {
  if (spec.volumes?.some(({ name }) => name === injector.volume))
    return `the pod has a volume of its own named '${injector.volume}'`;
  if ([...spec.containers, ...(spec.initContainers ?? [])].some(({ name }) => name === injector.container))
    return `the pod has a container of its own named '${injector.container}'`;
  const reasons = spec.containers.map((container) => reasonToLeaveAlone(container, spec));
  if (reasons.every((reason) => reason !== undefined)) return reasons.join('; ');
  return reasonOfStorage(spec);
}

/**
 * Why the pod would be evicted once the injector is copied into its volume. The kubelet holds the whole pod, volumes
 * included, to the sum of the limits that are there, even if some container has none (podEphemeralStorageLimitEviction).
 */
export function reasonOfStorage({ containers, initContainers = [] }: PodSpec): string | undefined {
  const lasting = [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')];
  const sum = lasting.map(storageLimit).reduce<number | undefined>(add, undefined);
  const initial = initContainers.map(storageLimit).filter((limit) => limit !== undefined);
  if (sum === undefined && initial.length === 0) return undefined;
  const limit = Math.max(sum ?? 0, ...initial);
  if (limit >= NEEDED_STORAGE) return undefined;
  return `the pod's ephemeral-storage limit (${Math.round(limit / 1e6)}M in all) leaves no room for the injector's files; it needs 250M`;
}

const storageLimit = ({ resources }: Container): number | undefined =>
  parseQuantity(resources?.limits?.['ephemeral-storage']);

const add = (sum: number | undefined, limit: number | undefined): number | undefined =>
  limit === undefined ? sum : (sum ?? 0) + limit;

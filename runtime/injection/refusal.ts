import { environment, injector } from '../contract.ts';
import { largestPair } from './init-resources.ts';
import { isPlainObject } from '../json/values.ts';
import { parseQuantity } from './quantity.ts';
import type { Container, PodSpec, Volume, VolumeMount } from '../api/objects.ts';
import { findVariable } from './variables.ts';

/** Bytes for the injector's files. The kubelet would evict a pod with a lower `ephemeral-storage` limit. */
export const NEEDED_STORAGE = 250e6;
/** Cores. Copying 74 MB in 3,400 files takes 2 s of a processor, so a start would take over a minute with less. */
export const NEEDED_CPU = 0.025;

/** Returns a path as the container runtime reads it: `/opt//lumigo/` is `/opt/lumigo`. */
const normalPath = (path: string): string =>
  path.includes('//') || path.endsWith('/') ? path.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '') : path;

export const isOurMountPath = ({ mountPath }: VolumeMount): boolean => normalPath(mountPath) === injector.mountPath;

export const readOnlySources = ['configMap', 'secret', 'projected', 'downwardAPI', 'image'] as const;

const isReadOnly = (volume: Volume): boolean =>
  readOnlySources.some((source) => volume[source] !== undefined) ||
  Object.values(volume).some((source) => isPlainObject(source) && source['readOnly'] === true);

export function reasonsToLeaveAlone(spec: PodSpec): ReadonlyMap<Container, string> {
  // One pass, because a client can send lists of thousands.
  const readOnly = new Set(spec.volumes?.filter(isReadOnly).map(({ name }) => name));
  const volumes = new Set(spec.volumes?.map(({ name }) => name));
  return getReasons(spec, (container) => findProblem(container, readOnly) ?? findLostMount(container, volumes));
}

export function getReasons({ containers }: PodSpec, why: (container: Container) => string | undefined) {
  const reasons = new Map<Container, string>();
  for (const container of containers) {
    const reason = why(container);
    if (reason !== undefined) reasons.set(container, `container '${container.name}' is skipped: ${reason}`);
  }
  return reasons;
}

function findProblem({ env, volumeMounts: mounts = [] }: Container, readOnly: ReadonlySet<string>): string | undefined {
  if (findVariable(env, environment.preload)?.valueFrom !== undefined)
    return `its ${environment.preload} uses valueFrom, so the operator cannot append the injector's`;
  const nested = mounts.find(({ mountPath }) => normalPath(mountPath).startsWith(`${injector.mountPath}/`));
  if (nested !== undefined)
    return `its volume '${nested.name}' is mounted at ${nested.mountPath}, inside the injector's directory ${injector.mountPath}`;
  if (mounts.filter(isOurMountPath).length > 1) return `it has more than one mount at ${injector.mountPath}`;
  const above = mounts.find((mount) => isAbove(mount) && (mount.readOnly === true || readOnly.has(mount.name)));
  if (above !== undefined)
    return `its read-only volume '${above.name}' is mounted at ${above.mountPath}, so the directory ${injector.mountPath} cannot be created`;
  return undefined;
}

/** A removal restores a mount only if the pod template has its volume. */
function findLostMount({ volumeMounts = [] }: Container, volumes: ReadonlySet<string>): string | undefined {
  const own = volumeMounts.find(isOurMountPath);
  if (own === undefined || volumes.has(own.name)) return undefined;
  return `its volume claim '${own.name}' is mounted at ${own.mountPath}, the injector's directory`;
}

const isAbove = ({ mountPath }: VolumeMount): boolean => injector.mountPath.startsWith(`${normalPath(mountPath)}/`);

/** Returns why a pod cannot be injected at all; undefined if it can. Expects a template without an injection. */
export function reasonToRefuse(
  spec: PodSpec,
  skipped: ReadonlyMap<Container, string>,
  candidates: readonly Container[],
): string | undefined {
  if (spec.volumes?.some(({ name }) => name === injector.volume))
    return `the pod already has a volume named '${injector.volume}'`;
  if ([...spec.containers, ...(spec.initContainers ?? [])].some(({ name }) => name === injector.container))
    return `the pod already has a container named '${injector.container}'`;
  if (candidates.every((container) => skipped.has(container))) return [...skipped.values()].join('; ');
  return reasonOfStorage(spec) ?? reasonOfCpu(spec);
}

/** The kubelet compares the whole pod with its limit, so one container with a limit is enough for an eviction. */
function reasonOfStorage({ containers, initContainers = [] }: PodSpec): string | undefined {
  const getLimit = ({ resources }: Container) => parseQuantity(resources?.limits?.['ephemeral-storage']);
  if ([...containers, ...initContainers].every((each) => getLimit(each) === undefined)) return undefined;
  let sidecars = 0;
  let largest = 0;
  for (const container of initContainers) {
    const limit = getLimit(container) ?? 0;
    largest = Math.max(largest, sidecars + limit);
    if (container['restartPolicy'] === 'Always') sidecars += limit;
  }
  const running = containers.reduce((total, each) => total + (getLimit(each) ?? 0), sidecars);
  const limit = Math.max(largest, running);
  if (limit >= NEEDED_STORAGE) return undefined;
  return `the pod's ephemeral-storage limits (${Math.round(limit / 1e6)}M in total) are too low for the injector's files, which need 250M`;
}

/** The init container's limit is at most the largest limit of the pod (init-resources.ts). */
function reasonOfCpu(spec: PodSpec): string | undefined {
  const { limit } = largestPair(spec, 'cpu');
  if ((parseQuantity(limit) ?? NEEDED_CPU) >= NEEDED_CPU) return undefined;
  return `the pod's cpu limit (${limit}) is too low: the injector would delay each start by more than a minute. It needs ${NEEDED_CPU * 1_000}m`;
}

import { environment, injector } from '../contract.ts';
import { largestPair } from './init-resources.ts';
import { isMap, lastNamed } from '../json/values.ts';
import { parseQuantity } from './quantity.ts';
import type { Container, PodSpec, Volume, VolumeMount } from '../api/objects.ts';

/** The injector's files and some room: an `ephemeral-storage` limit below this would evict the pod. */
export const NEEDED_STORAGE = 250e6;
/**
 * Copying takes some two seconds of a processor (74 MB in 3,400 files, measured), whatever memory there is (1 MB was enough): with
 * less than this the pod's start would wait for more than a minute, each time.
 */
export const NEEDED_CPU = 0.025;

/** A path as the container runtime reads it: `/opt//lumigo/` is `/opt/lumigo`. */
const normalPath = (path: string): string =>
  path.includes('//') || path.endsWith('/') ? path.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '') : path;

export const isOurMountPath = ({ mountPath }: VolumeMount): boolean => normalPath(mountPath) === injector.mountPath;

/** Sources of volumes that are never written to. */
export const readOnlySources = ['configMap', 'secret', 'projected', 'downwardAPI', 'image'] as const;

/** Volumes in which the container runtime cannot make the folder that another mount needs. */
const isReadOnly = (volume: Volume): boolean =>
  readOnlySources.some((source) => volume[source] !== undefined) ||
  Object.values(volume).some((source) => isMap(source) && source['readOnly'] === true);

/** Returns the containers that cannot be injected, each with the reason. */
export function reasonsToLeaveAlone(spec: PodSpec): ReadonlyMap<Container, string> {
  // Anybody can send lists of thousands: each is gone through once.
  const readOnly = new Set(spec.volumes?.filter(isReadOnly).map(({ name }) => name));
  return reasonsOf(spec, (container) => problemOf(container, readOnly));
}

/** The containers that there is a reason to leave alone, each with a sentence that names it. */
export const reasonsOf = (
  { containers }: PodSpec,
  why: (container: Container) => string | undefined,
): ReadonlyMap<Container, string> =>
  new Map(
    containers.flatMap((container) => {
      const reason = why(container);
      return reason === undefined ? [] : [[container, `container '${container.name}' is skipped: ${reason}`]];
    }),
  );

function problemOf({ env, volumeMounts: mounts = [] }: Container, readOnly: ReadonlySet<string>): string | undefined {
  if (lastNamed(env, environment.preload)?.valueFrom !== undefined)
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

const isAbove = ({ mountPath }: VolumeMount): boolean => injector.mountPath.startsWith(`${normalPath(mountPath)}/`);

/** Why a pod cannot be injected into at all; undefined when it can. Expects a template without an injection of ours. */
export function reasonToRefuse(spec: PodSpec, leftAlone: ReadonlyMap<Container, string>): string | undefined {
  if (spec.volumes?.some(({ name }) => name === injector.volume))
    return `the pod already has a volume named '${injector.volume}'`;
  if ([...spec.containers, ...(spec.initContainers ?? [])].some(({ name }) => name === injector.container))
    return `the pod already has a container named '${injector.container}'`;
  if (spec.containers.every((container) => leftAlone.has(container))) return [...leftAlone.values()].join('; ');
  return reasonOfStorage(spec) ?? reasonOfCpu(spec);
}

/** The kubelet adds up the limits that there are: one container with a limit is enough to have the whole pod evicted. */
function reasonOfStorage({ containers }: PodSpec): string | undefined {
  const limits = containers.flatMap(({ resources }) => parseQuantity(resources?.limits?.['ephemeral-storage']) ?? []);
  const sum = limits.reduce((total, limit) => total + limit, 0);
  if (limits.length === 0 || sum >= NEEDED_STORAGE) return undefined;
  return `the pod's ephemeral-storage limits (${Math.round(sum / 1e6)}M in total) are too low for the injector's files, which need 250M`;
}

/** The copying container gets no more than the largest limit of the pod's own. */
function reasonOfCpu(spec: PodSpec): string | undefined {
  const { limit } = largestPair(spec, 'cpu');
  if ((parseQuantity(limit) ?? NEEDED_CPU) >= NEEDED_CPU) return undefined;
  return `the pod's cpu limit (${limit}) is too low: the injector would delay each start by more than a minute. It needs ${NEEDED_CPU * 1_000}m`;
}

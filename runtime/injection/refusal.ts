import { environment, injector } from '../contract.ts';
import { parseQuantity } from './borrowed-resources.ts';
import { lastNamed } from './lists.ts';
import type { Container, Named, PodSpec, VolumeMount } from './types.ts';

/** The injector's files and some room: an `ephemeral-storage` limit below this would evict the pod. */
const NEEDED_STORAGE = 250e6;

/** A path as the container runtime reads it: `/opt//lumigo/` is `/opt/lumigo`. */
export const normalPath = (path: string): string => path.replace(/\/+/g, '/').replace(/(?<=.)\/$/, '');

/** Volumes in which the container runtime cannot make the folder that another mount needs. */
const readOnlyKinds = ['configMap', 'secret', 'projected', 'downwardAPI'] as const;

/** Why a container is left as it is; undefined when it can be injected into. */
export function reasonToLeaveAlone(container: Container, volumes: readonly Named[] = []): string | undefined {
  const left = `container '${container.name}' is left alone`;
  if (lastNamed(container.env, environment.preload)?.valueFrom !== undefined)
    return `${left}: its ${environment.preload} comes from elsewhere (valueFrom), and cannot be joined with the injector's`;
  const mounts = container.volumeMounts ?? [];
  const nested = mounts.find(({ mountPath }) => normalPath(mountPath).startsWith(`${injector.mountPath}/`));
  if (nested !== undefined)
    return `${left}: its volume '${nested.name}' is mounted at ${nested.mountPath}, below the injector's ${injector.mountPath}`;
  if (mounts.filter(({ mountPath }) => normalPath(mountPath) === injector.mountPath).length > 1)
    return `${left}: it has more than one mount at ${injector.mountPath}`;
  const above = mounts.find((mount) => isAbove(mount.mountPath) && isReadOnly(mount, volumes));
  if (above !== undefined)
    return `${left}: its read-only volume '${above.name}' is mounted at ${above.mountPath}, where ${injector.mountPath} would have to be made`;
  return undefined;
}

const isAbove = (path: string): boolean => injector.mountPath.startsWith(`${normalPath(path)}/`);

function isReadOnly(mount: VolumeMount, volumes: readonly Named[]): boolean {
  const volume = volumes.find(({ name }) => name === mount.name);
  return mount['readOnly'] === true || readOnlyKinds.some((kind) => volume?.[kind] !== undefined);
}

/** Why a pod cannot be injected into at all; undefined when it can. Expects a template without an injection of ours. */
export function reasonToRefuse(spec: PodSpec): string | undefined {
  if (spec.volumes?.some(({ name }) => name === injector.volume))
    return `the pod has a volume of its own named '${injector.volume}'`;
  if ([...spec.containers, ...(spec.initContainers ?? [])].some(({ name }) => name === injector.container))
    return `the pod has a container of its own named '${injector.container}'`;
  const reasons = spec.containers.map((container) => reasonToLeaveAlone(container, spec.volumes));
  if (reasons.every((reason) => reason !== undefined)) return reasons.join('; ');
  return reasonOfStorage(spec);
}

/** The kubelet adds up the limits that there are: one container with a limit is enough to have the whole pod evicted. */
function reasonOfStorage({ containers }: PodSpec): string | undefined {
  const limits = containers.flatMap(({ resources }) => parseQuantity(resources?.limits?.['ephemeral-storage']) ?? []);
  const sum = limits.reduce((total, limit) => total + limit, 0);
  if (limits.length === 0 || sum >= NEEDED_STORAGE) return undefined;
  return `the pod's ephemeral-storage limits (${Math.round(sum / 1e6)}M in all) leave no room for the injector's files; it needs 250M`;
}

import { injector } from '../contract.ts';
import type { Container, Named, PodSpec, VolumeMount } from './types.ts';

export const injectorMount: VolumeMount = { name: injector.volume, mountPath: injector.mountPath, readOnly: true };

/** Whether a mount stands where the injector's goes, however its path is spelled: only one of them can be there. */
export const isAtInjector = ({ mountPath }: VolumeMount): boolean => normalPath(mountPath) === injector.mountPath;

/** Why the injector's volume cannot be mounted beside the container's own; undefined when it can. */
export function reasonOfMounts({ volumeMounts = [] }: Container, { volumes }: PodSpec): string | undefined {
  const target = injector.mountPath;
  if (volumeMounts.filter(isAtInjector).length > 1)
    return `two of its volumes are mounted at ${target}, where the injector's goes`;
  for (const mount of volumeMounts) {
    const path = normalPath(mount.mountPath);
    if (path.startsWith(`${target}/`))
      return `its volume '${mount.name}' is mounted at ${mount.mountPath}, below the injector's ${target}`;
    const isAbove = path === '/' || target.startsWith(`${path}/`);
    if (isAbove && isReadOnly(mount, volumes))
      return `its volume '${mount.name}' is mounted read-only at ${mount.mountPath}, where the injector's ${target} cannot be made`;
  }
  return undefined;
}

/** Volumes that the kubelet mounts read-only, whatever the mount says. */
const readOnlySources = ['configMap', 'secret', 'projected', 'downwardAPI', 'image'];

function isReadOnly(mount: VolumeMount, volumes: readonly Named[] = []): boolean {
  if (mount['readOnly'] === true) return true;
  const volume = volumes.find(({ name }) => name === mount.name);
  return volume !== undefined && readOnlySources.some((source) => volume[source] !== undefined);
}

/** An absolute path without empty, `.` and `..` steps; the runtime resolves a mount's path in the same way. */
function normalPath(path: string): string {
  const steps: string[] = [];
  for (const step of path.split('/'))
    if (step === '..') steps.pop();
    else if (step !== '' && step !== '.') steps.push(step);
  return `/${steps.join('/')}`;
}

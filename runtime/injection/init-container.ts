import { injector } from '../contract.ts';
import { initResources } from './init-resources.ts';
import type { Container, PodSpec, Volume, VolumeMount } from '../api/objects.ts';
import type { InjectorSettings } from './types.ts';

/** The volume that carries the injector from the init container to the others. */
export const injectorVolume: Volume = { name: injector.volume, emptyDir: { sizeLimit: injector.volumeSizeLimit } };

/** Where the other containers find it. */
export const injectorMount: VolumeMount = { name: injector.volume, mountPath: injector.mountPath, readOnly: true };

/**
 * The init container that copies the injector. Fields that the API server would fill in are written out, so that what
 * it stores is what was meant, and injecting into that again changes nothing.
 */
export function initContainer(settings: InjectorSettings, spec: PodSpec): Container {
  return {
    name: injector.container,
    image: settings.image,
    imagePullPolicy: settings.imagePullPolicy,
    env: [{ name: injector.targetVariable, value: injector.targetDirectory }],
    volumeMounts: [{ name: injector.volume, mountPath: injector.targetDirectory }],
    resources: initResources(spec),
    securityContext: securityContext(settings, spec),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  };
}

/**
 * Passes Pod Security `restricted` whatever the pod itself says. OpenShift gives every namespace a range of user ids and
 * a seccomp profile of its own, and refuses a pod that pins others, unless the pod is allowed to, which it shows by doing so.
 */
function securityContext({ platform }: InjectorSettings, spec: PodSpec) {
  const isFree = platform === 'kubernetes';
  const pinsRoot = spec.securityContext?.runAsUser === 0;
  const pinsSeccomp = spec.containers.some(({ securityContext: own }) => own?.seccompProfile !== undefined);
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    ...(isFree || pinsRoot ? { runAsUser: userFor(spec) } : {}),
    ...(isFree || pinsSeccomp ? { seccompProfile: { type: 'RuntimeDefault' } } : {}),
  };
}

/** A user that is not root, and that the pod's volumes are meant for where the pod says so. */
function userFor({ securityContext: { runAsUser = 0, fsGroup = 0 } = {} }: PodSpec): number {
  if (runAsUser > 0) return runAsUser;
  return fsGroup > 0 ? fsGroup : injector.fallbackUser;
}

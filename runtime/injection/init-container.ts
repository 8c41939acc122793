import { injector } from '../contract.ts';
import { initResources } from './init-resources.ts';
import { covers } from '../json/values.ts';
import { getOriginalState } from './original-state.ts';
import type { Container, PodSpec, PodTemplate, Volume, VolumeMount } from '../api/objects.ts';
import type { InjectorSettings } from './types.ts';

export const injectorVolume: Volume = { name: injector.volume, emptyDir: { sizeLimit: injector.volumeSizeLimit } };

export const injectorMount: VolumeMount = { name: injector.volume, mountPath: injector.mountPath, readOnly: true };

const target = { name: injector.targetVariable, value: injector.targetDirectory };
const targetMount = { name: injector.volume, mountPath: injector.targetDirectory };

/** Returns the init container, with the API server's defaults, so that a second injection changes nothing. */
export function initContainer(settings: InjectorSettings, spec: PodSpec): Container {
  return {
    name: injector.container,
    image: settings.image,
    imagePullPolicy: settings.imagePullPolicy,
    env: [target],
    volumeMounts: [targetMount],
    resources: initResources(spec),
    securityContext: securityContext(settings, spec),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  };
}

export const findInjector = ({ initContainers = [] }: Partial<PodSpec> = {}): Container | undefined =>
  initContainers.find(({ name }) => name === injector.container);

/** Compares only the copying. The other fields follow the pod, the operator's version then, and other webhooks. */
export function copiesFiles(template: PodTemplate): boolean {
  const { image, env = [], volumeMounts = [] } = findInjector(template.spec) ?? {};
  // `kubectl set image '*=app:2'` also changes this image.
  const isOthers = template.spec.containers.some((each) => each.image === image);
  if (isOthers && getOriginalState(template)?.image !== image) return false;
  return env.some((each) => covers(each, target)) && volumeMounts.some((each) => covers(each, targetMount));
}

/**
 * Passes Pod Security `restricted` whatever the pod sets. OpenShift assigns user ids and a seccomp profile per
 * namespace, and refuses pods that pin others. A pod or container that pins its own is allowed to.
 */
function securityContext({ platform }: InjectorSettings, spec: PodSpec) {
  const isFree = platform === 'kubernetes';
  const own = spec.containers.map((container) => container.securityContext);
  const pinsSeccomp = own.some((each) => each?.seccompProfile !== undefined);
  const pinned = own.find((each) => (each?.runAsUser ?? 0) > 0)?.runAsUser;
  const { runAsUser: podUser, fsGroup } = spec.securityContext ?? {};
  // 0 is root.
  const runAsUser = isFree || podUser === 0 ? podUser || fsGroup || injector.fallbackUser : pinned;
  return {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
    runAsNonRoot: true,
    ...(runAsUser === undefined ? {} : { runAsUser }),
    ...(isFree || pinsSeccomp ? { seccompProfile: { type: 'RuntimeDefault' } } : {}),
  };
}

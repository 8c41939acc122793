import { accountFiles, mounts, suffixes } from '../../runtime/contract.ts';
import { withoutEmpty } from '../../runtime/json/values.ts';
import type { PodOfInstallation } from '../settings/placement.ts';
import type { Settings } from '../settings/schema.ts';
import { environmentWith } from './configuration.ts';
import { imageReference } from './image.ts';
import { runtimeConfig, type Delivery } from './runtime-environment.ts';

/**
 * A part of a pod in Kubernetes' own JSON, settings included as they are given. The API server checks its fields: the
 * tests apply everything with strict validation.
 */
export type Raw = Readonly<Record<string, unknown>>;

/** Both programs of the pod run as this user, so that one may signal the other and read what it wrote. */
const user = 65_532;

/**
 * What the `restricted` Pod Security Standard asks of a pod. OpenShift assigns a user itself, the same to all containers
 * of a namespace.
 */
const podSecurity = ({ platform }: Settings) => ({
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
  ...(platform === 'openshift' ? {} : { runAsUser: user, runAsGroup: user, fsGroup: user }),
});

/** What it asks of a container; that nothing is written into the image's layers is our own wish. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** What every pod of the operator's own has in common: who it is, and where it may run. */
export const operatorPod = (settings: Settings, pod: PodOfInstallation): Raw => ({
  serviceAccountName: `${settings.name}${suffixes.manager}`,
  automountServiceAccountToken: true,
  // Kubernetes would describe each Service of the namespace in variables, which nothing here reads.
  enableServiceLinks: false,
  securityContext: podSecurity(settings),
  // Kubernetes 1.30 takes an empty list in a pod template, applied once more, for a change.
  ...withoutEmpty(placementOf(settings, pod), ['imagePullSecrets', 'nodeSelector', 'tolerations', 'affinity']),
});

const placementOf = ({ imagePullSecrets, nodeSelector, tolerations, affinity }: Settings, pod: PodOfInstallation) => ({
  imagePullSecrets,
  nodeSelector: Object.keys(nodeSelector[pod]).length > 0 ? nodeSelector[pod] : nodeSelector.global,
  tolerations: tolerations[pod].length > 0 ? tolerations[pod] : tolerations.global,
  affinity,
});

const managerAccount = 'manager-account';

/** For the containers that may do what the manager may; nothing is mounted where none asks for it. */
export const managerAccountMount = { name: managerAccount, mountPath: mounts.serviceAccount, readOnly: true };

/**
 * The account's files, which Kubernetes would mount into every container of a pod. The kubelet renews the token; of an hour's life,
 * since some clusters take one of 3,607 s for an old client's and accept it for a year.
 */
export const managerAccountVolume = {
  name: managerAccount,
  projected: {
    sources: [
      { serviceAccountToken: { path: accountFiles.token, expirationSeconds: 3_600 } },
      { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: accountFiles.authority }] } },
      {
        downwardAPI: {
          items: [{ path: accountFiles.namespace, fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
        },
      },
    ],
  },
};

/** A container that runs the operator's program, whichever of its commands. */
export function operatorContainer(settings: Settings, delivery: Delivery): Raw {
  const { image, resources } = settings.controllerManager.manager;
  return {
    image: imageReference(image, settings.imagePrefix),
    imagePullPolicy: 'IfNotPresent',
    env: environmentWith(runtimeConfig(settings, delivery)),
    resources,
    securityContext: containerSecurity,
  };
}

/** Up to a minute to start; then out of service after 15 seconds of silence, and restarted after one minute. */
export function probes(port: string, live: string, ready: string) {
  return {
    startupProbe: { httpGet: { path: live, port }, periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { httpGet: { path: live, port }, periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 3 },
    readinessProbe: { httpGet: { path: ready, port }, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
  };
}

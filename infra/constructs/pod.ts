import { accountFiles, mounts, suffixes } from '../../runtime/contract.ts';
import { withoutEmpty } from '../../runtime/json/values.ts';
import type { PodOfInstallation } from '../settings/placement.ts';
import { linuxNodes, type Settings } from '../settings/schema.ts';
import { environmentWith } from './configuration.ts';
import { imageReference, type Image } from './image.ts';
import { runtimeConfig, type Delivery } from './runtime-environment.ts';

/** The API server checks the fields, and tests apply everything with strict validation. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Both containers run as this user, so the manager may signal the telemetry proxy and read its files. */
const user = 65_532;

/** Returns the pod's fields for the `restricted` Pod Security Standard. OpenShift assigns the user itself. */
const podSecurity = ({ platform }: Settings) => ({
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
  ...(platform === 'openshift' ? {} : { runAsUser: user, runAsGroup: user, fsGroup: user }),
});

/** The fields that the `restricted` standard requires, and a read-only root file system. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  readOnlyRootFilesystem: true,
};

/** The settings cannot change labels by which objects select pods. */
export const podMetadata = ({ podLabels, podAnnotations }: Settings, labels: object, container: string, more = {}) => ({
  labels: { ...podLabels, ...labels },
  annotations: { 'kubectl.kubernetes.io/default-container': container, ...more, ...podAnnotations },
});

export const operatorPod = (settings: Settings, pod: PodOfInstallation, priorityClassName = ''): JsonObject => ({
  serviceAccountName: `${settings.name}${suffixes.manager}`,
  automountServiceAccountToken: true,
  // Kubernetes would add variables for each Service of the namespace, which no program here reads.
  enableServiceLinks: false,
  securityContext: podSecurity(settings),
  ...(priorityClassName === '' ? {} : { priorityClassName }),
  // Kubernetes 1.30 treats an empty list in a pod template as a change on each apply.
  ...withoutEmpty(getPlacement(settings, pod), ['imagePullSecrets', 'nodeSelector', 'tolerations', 'affinity']),
});

const getPlacement = ({ imagePullSecrets, nodeSelector, tolerations, affinity }: Settings, pod: PodOfInstallation) => ({
  imagePullSecrets,
  nodeSelector: Object.keys(nodeSelector[pod]).length > 0 ? nodeSelector[pod] : nodeSelector.global,
  tolerations: tolerations[pod].length > 0 ? tolerations[pod] : tolerations.global,
  affinity: pod === 'controllerManager' ? affinity : linuxNodes,
});

const account = 'account';

/** Only containers that act as the pod's account mount its token. */
export const accountMount = { name: account, mountPath: mounts.serviceAccount, readOnly: true };

/** The kubelet renews the token. It lives for one hour, because some clusters extend a token of 3,607 s to a year. */
export const accountVolume = {
  name: account,
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

/** Returns the fields of any container: what it runs, what it may use, and no privileges. */
export const containerOf = (
  { imagePrefix }: Settings,
  { image, resources }: { readonly image: Image; readonly resources: JsonObject },
): JsonObject => ({
  image: imageReference(image, imagePrefix),
  imagePullPolicy: 'IfNotPresent',
  resources,
  securityContext: containerSecurity,
});

export const operatorContainer = (settings: Settings, delivery: Delivery): JsonObject => ({
  ...containerOf(settings, settings.controllerManager.manager),
  env: environmentWith(runtimeConfig(settings, delivery)),
});

export const containerPort = (name: string, port: number) => ({ name, containerPort: port, protocol: 'TCP' });

/** A container has one minute to start. It is out of service after 15 s without an answer. By default it is restarted after 40 to 60 s. */
export function probes(port: string, live: string, ready: string, failureThreshold = 3) {
  return {
    startupProbe: { httpGet: { path: live, port }, periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { httpGet: { path: live, port }, periodSeconds: 20, timeoutSeconds: 5, failureThreshold },
    readinessProbe: { httpGet: { path: ready, port }, periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 3 },
  };
}

import { mounts, suffixes } from '../../runtime/contract.ts';
import { managerFields, toEnvironment, variableOf, type RuntimeConfig } from '../../runtime/config/config.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../version.ts';
import { carriedSettings } from './carried-settings.ts';
import { imageReference } from './image.ts';
import { monitoredText } from './monitored-namespaces.ts';

/** By which of its deliveries an operator is installed; telemetry says so. */
export type Delivery = 'Manifests' | 'Helm' | 'Pulumi';

/** Where instrumented programs of any namespace reach the telemetry proxy. */
export const telemetryProxyUrl = ({
  name,
  namespace,
  kubernetesClusterDomain,
}: Pick<Settings, 'name' | 'namespace' | 'kubernetesClusterDomain'>): string =>
  `http://${name}${suffixes.telemetryProxyService}.${namespace}.svc.${kubernetesClusterDomain}`;

/** What the API server calls the webhook by, which its certificate is for. */
export const webhookHost = ({ name, namespace }: Pick<Settings, 'name' | 'namespace'>): string =>
  `${name}${suffixes.webhookService}.${namespace}.svc`;

/** For so long after it was told to stop a pod is still sent what it used to be sent: not every node has noticed. */
export const drainSeconds = 5;

/** What the settings mean to the running operator; its pod's name is known to no one before it runs. */
export function runtimeConfig(settings: Settings, delivery: Delivery): Omit<RuntimeConfig, 'podName'> {
  return {
    ...carriedSettings(managerFields, settings),
    version: operatorVersion(),
    serviceAccount: `${settings.name}${suffixes.manager}`,
    injectorImage: imageReference(settings.injectorWebhook.lumigoInjector.image, settings.imagePrefix),
    telemetryProxyUrl: telemetryProxyUrl(settings),
    drainSeconds,
    listenAddress: '',
    certificatesDirectory: '',
    certificatesIssuer: ['cert-manager', 'external'].includes(settings.certificates.issuer) ? 'external' : 'operator',
    webhookHost: webhookHost(settings),
    deploymentMethod: delivery,
    monitoredNamespaces: monitoredText(settings),
    telemetryProxyDirectory: mounts.telemetryProxyConfiguration,
    telemetryProxyAccountDirectory: mounts.telemetryProxyAccount,
    telemetryProxyQueueDirectory: mounts.telemetryProxyQueue,
    telemetryProxyCredentials: 'serviceAccount',
    logLevel: settings.debug.enabled ? 'debug' : 'info',
  };
}

/** The manager's environment: its configuration, and its pod's name as Kubernetes tells it. The image has the options of Node.js. */
export function managerEnvironment(settings: Settings, delivery: Delivery) {
  const configuration = toEnvironment({ ...runtimeConfig(settings, delivery), podName: '' });
  return withPodName(configuration, variableOf('podName'));
}

/** An environment in which one variable is the pod's name, as Kubernetes tells it. */
export const withPodName = (environment: readonly { name: string; value: string }[], variable: string) =>
  environment.map(({ name, value }) =>
    name === variable ? { name, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } } : { name, value },
  );

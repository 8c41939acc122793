import { mounts, suffixes } from '../../runtime/contract.ts';
import { managerKinds } from '../../runtime/config/config.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../settings/version.ts';
import { configured } from './configuration.ts';
import { imageReference } from './image.ts';

export type Delivery = 'Manifests' | 'Helm' | 'Pulumi' | 'OLM';

export const telemetryProxyUrl = ({
  name,
  namespace,
  kubernetesClusterDomain,
}: Pick<Settings, 'name' | 'namespace' | 'kubernetesClusterDomain'>): string =>
  `http://${name}${suffixes.telemetryProxyService}.${namespace}.svc.${kubernetesClusterDomain}`;

export const webhookHost = ({ name, namespace }: Pick<Settings, 'name' | 'namespace'>): string =>
  `${name}${suffixes.webhookService}.${namespace}.svc`;

export const KUBE_STATE_METRICS_PORT = 8080;

/** Returns host and port of the kube-state-metrics that the leader scrapes; empty if there is none. */
function kubeStateMetricsAddress(settings: Settings): string {
  const { name, namespace, kubernetesClusterDomain, kubeStateMetrics, clusterCollection } = settings;
  if (!clusterCollection.metrics.enabled) return '';
  if (kubeStateMetrics.address !== '') return kubeStateMetrics.address;
  const host = `${name}${suffixes.kubeStateMetrics}.${namespace}.svc.${kubernetesClusterDomain}`;
  return kubeStateMetrics.install ? `${host}:${KUBE_STATE_METRICS_PORT}` : '';
}

/** A terminating pod still receives requests for this time, until each node has noticed. */
export const drainSeconds = 5;

export const runtimeConfig = (settings: Settings, delivery: Delivery) =>
  configured(managerKinds, settings, {
    version: operatorVersion(),
    serviceAccount: `${settings.name}${suffixes.manager}`,
    injectorImage: imageReference(settings.injectorWebhook.lumigoInjector.image, settings.imagePrefix),
    telemetryProxyUrl: telemetryProxyUrl(settings),
    rolloutLookSeconds: 20,
    drainSeconds,
    listenAddress: '',
    certificatesDirectory: '',
    certificatesIssuer: ['cert-manager', 'external'].includes(settings.certificates.issuer) ? 'external' : 'operator',
    webhookHost: webhookHost(settings),
    deploymentMethod: delivery,
    telemetryProxyDirectory: mounts.telemetryProxyConfiguration,
    telemetryProxyAccountDirectory: mounts.telemetryProxyAccount,
    telemetryProxyQueueDirectory: mounts.telemetryProxyQueue,
    telemetryProxyCredentials: 'serviceAccount',
    kubeStateMetrics: kubeStateMetricsAddress(settings),
    logLevel: settings.debug.enabled ? 'debug' : 'info',
  });

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

/** A terminating pod still receives requests for this time, until each node has noticed. */
export const drainSeconds = 5;

export const runtimeConfig = (settings: Settings, delivery: Delivery) =>
  configured(managerKinds, settings, {
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
    telemetryProxyDirectory: mounts.telemetryProxyConfiguration,
    telemetryProxyAccountDirectory: mounts.telemetryProxyAccount,
    telemetryProxyQueueDirectory: mounts.telemetryProxyQueue,
    telemetryProxyCredentials: 'serviceAccount',
    logLevel: settings.debug.enabled ? 'debug' : 'info',
  });

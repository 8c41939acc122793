import { mounts, suffixes } from '../../runtime/contract.ts';
import { managerKinds } from '../../runtime/config/config.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../settings/version.ts';
import { configured } from './configuration.ts';
import { imageReference } from './image.ts';

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

/** What the settings mean to the running operator. */
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

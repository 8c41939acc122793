import { mounts, suffixes } from '../../runtime/contract.ts';
import { toEnvironment, variableOf, type RuntimeConfig } from '../../runtime/config/config.ts';
import type { Settings } from '../settings/schema.ts';
import { operatorVersion } from '../version.ts';
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
  const { injection, injectorWebhook, name, ports, rollout } = settings;
  const { queue } = settings.controllerManager.telemetryProxy;
  return {
    version: operatorVersion(),
    operatorName: name,
    operatorNamespace: settings.namespace,
    serviceAccount: `${name}${suffixes.manager}`,
    injectorImage: imageReference(injectorWebhook.lumigoInjector.image, settings.imagePrefix),
    injectorImagePullPolicy: injection.imagePullPolicy,
    injectorImagePullSecrets: injection.imagePullSecrets,
    injectorSidecars: injection.sidecars,
    telemetryProxyUrl: telemetryProxyUrl(settings),
    platform: settings.platform,
    updateOnUpgrade: injection.updateOnUpgrade,
    podMode: injection.podMode,
    rolloutStrategy: rollout.strategy,
    rolloutSoakSeconds: rollout.soakSeconds,
    rolloutDeadlineSeconds: rollout.deadlineSeconds,
    rolloutLargestWave: rollout.largestWave,
    rolloutConcurrent: rollout.concurrent,
    rolloutConcurrentPerNamespace: rollout.concurrentPerNamespace,
    rolloutSettleSeconds: rollout.settleSeconds,
    excludedNamespaces: settings.webhook.excludedNamespaces,
    removalDeadlineSeconds: settings.removal.deadlineSeconds,
    drainSeconds,
    webhookPort: ports.webhook,
    webhookTimeoutSeconds: settings.webhook.timeoutSeconds,
    webhookClientCa: settings.webhook.clientCa.configMap,
    webhookClientNames: settings.webhook.clientCa.names,
    healthPort: ports.health,
    metricsPort: ports.metrics,
    metricsSecure: settings.metrics.secure,
    listenAddress: '',
    certificatesDirectory: '',
    certificatesIssuer: ['cert-manager', 'external'].includes(settings.certificates.issuer) ? 'external' : 'operator',
    webhookHost: webhookHost(settings),
    deploymentMethod: delivery,
    clusterName: settings.cluster.name,
    endpoint: settings.endpoint.otlp.url,
    logsEndpoint: settings.endpoint.otlp.logs_url,
    monitoredNamespaces: monitoredText(settings),
    tokenSecret: settings.lumigoToken.secretName,
    tokenKey: settings.lumigoToken.secretKey,
    telemetryProxyDirectory: mounts.telemetryProxyConfiguration,
    telemetryProxyAccountDirectory: mounts.telemetryProxyAccount,
    telemetryProxyQueueDirectory: mounts.telemetryProxyQueue,
    telemetryProxyQueueBatches: queue.batches,
    otlpHttpPort: ports.otlpHttp,
    otlpGrpcPort: ports.otlpGrpc,
    telemetryHealthPort: ports.telemetryHealth,
    telemetryMetricsPort: ports.telemetryMetrics,
    telemetryLoopPort: ports.telemetryLoop,
    telemetryProxyCredentials: 'serviceAccount',
    logLevel: settings.debug.enabled ? 'debug' : 'info',
  };
}

/**
 * A small young generation keeps the process small: after lists of 10,000 objects it needs two thirds of the memory, for
 * a tenth more time in the webhook (docs/performance.md). The old generation follows the container's memory limit (Dockerfile).
 */
const nodeOptions = { name: 'NODE_OPTIONS', value: '--max-semi-space-size=4' };

/** The manager's environment: its configuration, its pod's name as Kubernetes tells it, and what Node.js is to keep to. */
export function managerEnvironment(settings: Settings, delivery: Delivery) {
  const configuration = toEnvironment({ ...runtimeConfig(settings, delivery), podName: '' });
  return [...withPodName(configuration, variableOf('podName')), nodeOptions];
}

/** An environment in which one variable is the pod's name, as Kubernetes tells it. */
export const withPodName = (environment: readonly { name: string; value: string }[], variable: string) =>
  environment.map(({ name, value }) =>
    name === variable ? { name, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } } : { name, value },
  );

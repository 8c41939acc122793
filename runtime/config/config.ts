import { excludedNamespaces as excludedByDefault } from '../contract.ts';
import { knownSidecars } from '../injection/chosen-containers.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import type { InjectorSettings } from '../injection/types.ts';
import type { Configuration } from './document.ts';
import { flag, maps, oneOf, readConfiguration, readForeign, setting, text, texts, wholeNumber } from './document.ts';

export interface MonitoredEntry {
  readonly namespace?: string | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly secretName?: string | undefined;
  readonly secretKey?: string | undefined;
  readonly tracingEnabled?: boolean | undefined;
  readonly loggingEnabled?: boolean | undefined;
}

/** The configuration of the manager and the operator's commands (infra/constructs/configuration.ts). */
export const managerKinds = {
  version: text,
  /** The prefix of the names of the installation's objects, such as `lumigo-lumigo-operator`. */
  operatorName: setting('name', text),
  operatorNamespace: setting('namespace', text),
  serviceAccount: text,
  injectorImage: text,
  injectorImagePullPolicy: setting('injection.imagePullPolicy', oneOf('Always', 'IfNotPresent', 'Never')),
  injectorImagePullSecrets: setting('injection.imagePullSecrets', texts),
  injectorSidecars: setting('injection.sidecars', texts),
  otherTracers: setting('injection.otherTracers', oneOf('Skip', 'Inject')),
  /** The base URL for instrumented programs, without a trailing slash. */
  telemetryProxyUrl: text,
  platform: setting('platform', oneOf('auto', 'kubernetes', 'openshift')),
  updateOnUpgrade: setting('injection.updateOnUpgrade', flag),
  podMode: setting('injection.podMode', flag),
  rolloutStrategy: setting('rollout.strategy', oneOf('progressive', 'immediate', 'on-next-change', 'manual')),
  rolloutSoakSeconds: setting('rollout.soakSeconds', wholeNumber),
  rolloutDeadlineSeconds: setting('rollout.deadlineSeconds', wholeNumber),
  /** Two looks at failing pods are this far apart, so that a short outage of a registry reverts nothing. */
  rolloutLookSeconds: wholeNumber,
  rolloutLargestBatch: setting('rollout.largestBatch', wholeNumber),
  rolloutConcurrent: setting('rollout.concurrent', wholeNumber),
  rolloutConcurrentPerNamespace: setting('rollout.concurrentPerNamespace', wholeNumber),
  rolloutSettleSeconds: setting('rollout.settleSeconds', wholeNumber),
  /** The operator's own namespace is excluded as well. */
  excludedNamespaces: setting('webhook.excludedNamespaces', texts),
  removalDeadlineSeconds: setting('removal.deadlineSeconds', wholeNumber),
  /** The webhook answers for this time after the signal to stop, until every API server has noticed. */
  drainSeconds: wholeNumber,
  webhookPort: setting('ports.webhook', wholeNumber),
  webhookTimeoutSeconds: setting('webhook.timeoutSeconds', wholeNumber),
  healthPort: setting('ports.health', wholeNumber),
  metricsPort: setting('ports.metrics', wholeNumber),
  metricsSecure: setting('metrics.secure', flag),
  /** The address of the three ports; empty for every address of the pod. */
  listenAddress: text,
  /** A directory with the webhook's certificate, for a manager outside a cluster; empty for the operator's Secret. */
  certificatesDirectory: text,
  /** `operator`: the operator issues the certificate if there is none. `external`: cert-manager, for example, does. */
  certificatesIssuer: oneOf('operator', 'external'),
  webhookHost: text,
  deploymentMethod: text,
  clusterName: setting('cluster.name', text),
  endpoint: setting('endpoint.otlp.url', text),
  logsEndpoint: setting('endpoint.otlp.logs_url', text),
  metricsEndpoint: setting('endpoint.otlp.metrics_url', text),
  nodeLogs: setting('clusterCollection.logs.enabled', flag),
  nodeMetrics: setting('clusterCollection.metrics.enabled', flag),
  essentialOnly: setting('clusterCollection.metrics.essentialOnly', flag),
  essentialMetrics: setting('clusterCollection.metrics.essentialMetrics.names', texts),
  metricsFrequency: setting('clusterCollection.metrics.frequency', text),
  nodeDataPort: setting('ports.nodeData', wholeNumber),
  /** Host and port; empty for none. */
  kubeStateMetrics: text,
  monitoredNamespaces: setting('monitoredNamespaces', maps<MonitoredEntry>()),
  tokenSecret: setting('lumigoToken.secretName', text),
  tokenKey: setting('lumigoToken.secretKey', text),
  telemetryProxyDirectory: text,
  /** The manager writes the telemetry proxy's API token there. */
  telemetryProxyAccountDirectory: text,
  telemetryProxyQueueDirectory: text,
  telemetryProxyQueueShardSize: setting('controllerManager.telemetryProxy.queue.shardSize', text),
  otlpHttpPort: setting('ports.otlpHttp', wholeNumber),
  otlpGrpcPort: setting('ports.otlpGrpc', wholeNumber),
  telemetryHealthPort: setting('ports.telemetryHealth', wholeNumber),
  telemetryMetricsPort: setting('ports.telemetryMetrics', wholeNumber),
  telemetryLoopPort: setting('ports.telemetryLoop', wholeNumber),
  telemetryCountsPort: setting('ports.telemetryCounts', wholeNumber),
  telemetryExpectedWithinSeconds: setting('telemetry.expectedWithinSeconds', wholeNumber),
  telemetryFindPodsBehindNat: setting('telemetry.findPodsBehindNat', flag),
  telemetryNamespaceLabels: setting('telemetry.namespaceLabels', texts),
  /** The source of the telemetry proxy's API token: a pod's ServiceAccount or, outside a cluster, KUBECONFIG. */
  telemetryProxyCredentials: oneOf('serviceAccount', 'kubeConfig'),
  logLevel: oneOf('error', 'warn', 'info', 'debug'),
};

export type RuntimeConfig = Configuration<typeof managerKinds>;

export const fromEnvironment = (environment: NodeJS.ProcessEnv): RuntimeConfig =>
  readConfiguration(managerKinds, environment);

/** Returns some rows of the manager's table, in this order. */
const rows = <K extends keyof typeof managerKinds>(...keys: readonly K[]) =>
  Object.fromEntries(keys.map((key) => [key, managerKinds[key]])) as Pick<typeof managerKinds, K>;

export const updaterKinds = {
  ...rows('version', 'operatorName', 'operatorNamespace', 'logLevel'),
  mode: oneOf('upgrade', 'check'),
  /** The chart repository's index (https://…) or registry folder (oci://…); empty for none. */
  repository: text,
  versions: setting('updater.versions', text),
  /** A file of public keys for the chart's signature; empty for no check. */
  keyring: text,
  unsigned: setting('updater.verify.unsigned', oneOf('refuse', 'accept')),
  timeoutSeconds: setting('updater.timeoutSeconds', wholeNumber),
};

export interface LogFiles {
  readonly namespacePattern?: string | undefined;
  readonly podPattern?: string | undefined;
  readonly containerPattern?: string | undefined;
}

export const nodeCollectorKinds = {
  ...rows('version', 'operatorNamespace', 'excludedNamespaces', 'logLevel', 'metricsSecure'),
  logs: managerKinds.nodeLogs,
  logsInclude: setting('clusterCollection.logs.include', maps<LogFiles>()),
  logsExclude: setting('clusterCollection.logs.exclude', maps<LogFiles>()),
  metrics: managerKinds.nodeMetrics,
  ...rows('essentialOnly', 'essentialMetrics', 'metricsFrequency'),
  queueSize: setting('logFileCollector.queueSize', text),
  /** The URL of the telemetry proxy's port for nodes. */
  proxyUrl: text,
};

export type NodeCollectorConfig = Configuration<typeof nodeCollectorKinds>;

export type UpdaterConfig = Configuration<typeof updaterKinds>;

/** The settings' defaults, for commands without a configuration (infra/constructs/contract.test.ts). */
export const assumedSettings = {
  injectorImagePullPolicy: 'IfNotPresent',
  injectorImagePullSecrets: [],
  injectorSidecars: knownSidecars,
  otherTracers: 'Skip',
  platform: 'auto',
  updateOnUpgrade: false,
  rolloutStrategy: 'progressive',
  rolloutSoakSeconds: 10,
  rolloutLargestBatch: 50,
  excludedNamespaces: excludedByDefault,
} as const satisfies Partial<RuntimeConfig>;

export type InjectionConfig = Pick<
  RuntimeConfig,
  keyof typeof assumedSettings | 'version' | 'operatorNamespace' | 'injectorImage' | 'telemetryProxyUrl'
> & { readonly isAssumed?: true };

export type CommandConfig = InjectionConfig &
  Pick<RuntimeConfig, 'operatorName' | 'nodeMetrics' | 'tokenSecret' | 'tokenKey'>;

/** The part of an operator's configuration that commands need. Their version may be another one. */
export function readForCommand(document: string): CommandConfig {
  const assumed = Object.keys(assumedSettings) as (keyof typeof assumedSettings)[];
  const installed = rows('version', 'operatorName', 'operatorNamespace', 'injectorImage', 'telemetryProxyUrl');
  const kinds = { ...rows(...assumed), ...installed, ...rows('nodeMetrics', 'tokenSecret', 'tokenKey') };
  return readForeign(kinds, document, { ...assumedSettings, nodeMetrics: false, tokenSecret: '', tokenKey: '' });
}

export const toInjector = (config: InjectionConfig): InjectorSettings => ({
  version: config.version,
  image: config.injectorImage,
  imagePullPolicy: config.injectorImagePullPolicy,
  imagePullSecrets: config.injectorImagePullSecrets,
  endpoint: config.telemetryProxyUrl,
  platform: config.platform === 'openshift' ? 'openshift' : 'kubernetes',
  sidecars: config.injectorSidecars,
  otherTracers: config.otherTracers,
  strategy: config.rolloutStrategy,
  isAssumed: config.isAssumed,
});

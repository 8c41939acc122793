import type * as api from '@kubernetes/client-node';
import { excludedNamespaces } from '../contract.ts';
import { knownSidecars } from '../injection/chosen-containers.ts';
import type { Raw } from '../api/objects.ts';
import type { InjectorSettings } from '../injection/types.ts';
import type { Configuration } from './document.ts';
import { flag, maps, oneOf, readConfiguration, setting, text, texts, wholeNumber } from './document.ts';

export type LabelSelector = Raw<api.V1LabelSelector>;

/** One namespace by its name, or those that a selector finds, whenever they come. */
export interface MonitoredEntry {
  readonly namespace?: string | undefined;
  readonly selector?: LabelSelector | undefined;
  readonly secretName?: string | undefined;
  readonly secretKey?: string | undefined;
  readonly tracingEnabled?: boolean | undefined;
  readonly loggingEnabled?: boolean | undefined;
}

/** What the manager and the operator's commands are told. The constructs write it (infra/constructs/configuration.ts). */
export const managerKinds = {
  /** The operator's version, e.g. `1.2.3`; part of the label on what it instruments. */
  version: text,
  /** The installation's name, from which the names of its objects derive, e.g. `lumigo-lumigo-operator`. */
  operatorName: setting('name', text),
  operatorNamespace: setting('namespace', text),
  serviceAccount: text,
  injectorImage: text,
  injectorImagePullPolicy: setting('injection.imagePullPolicy', oneOf('Always', 'IfNotPresent', 'Never')),
  injectorImagePullSecrets: setting('injection.imagePullSecrets', texts),
  injectorSidecars: setting('injection.sidecars', texts),
  /** The base URL that instrumented programs send to, without a trailing slash. */
  telemetryProxyUrl: text,
  platform: setting('platform', oneOf('auto', 'kubernetes', 'openshift')),
  updateOnUpgrade: setting('injection.updateOnUpgrade', flag),
  podMode: setting('injection.podMode', flag),
  rolloutStrategy: setting('rollout.strategy', oneOf('progressive', 'immediate', 'on-next-change', 'manual')),
  rolloutSoakSeconds: setting('rollout.soakSeconds', wholeNumber),
  rolloutDeadlineSeconds: setting('rollout.deadlineSeconds', wholeNumber),
  rolloutLargestWave: setting('rollout.largestWave', wholeNumber),
  rolloutConcurrent: setting('rollout.concurrent', wholeNumber),
  rolloutConcurrentPerNamespace: setting('rollout.concurrentPerNamespace', wholeNumber),
  rolloutSettleSeconds: setting('rollout.settleSeconds', wholeNumber),
  /** The operator's own namespace is excluded as well. */
  excludedNamespaces: setting('webhook.excludedNamespaces', texts),
  removalDeadlineSeconds: setting('removal.deadlineSeconds', wholeNumber),
  /** How long the webhook goes on answering after it was told to stop, until every API server has noticed. */
  drainSeconds: wholeNumber,
  webhookPort: setting('ports.webhook', wholeNumber),
  webhookTimeoutSeconds: setting('webhook.timeoutSeconds', wholeNumber),
  healthPort: setting('ports.health', wholeNumber),
  metricsPort: setting('ports.metrics', wholeNumber),
  metricsSecure: setting('metrics.secure', flag),
  /** The address that the three ports are bound to; empty: every address of the pod. */
  listenAddress: text,
  /** A folder with the webhook's certificate, for a manager beside a cluster; empty: the operator's own Secret. */
  certificatesDirectory: text,
  /** Who makes that certificate: the operator where nobody else has, or always somebody else, such as cert-manager. */
  certificatesIssuer: oneOf('operator', 'external'),
  /** What the API server calls the webhook by: a DNS name or an IP address. */
  webhookHost: text,
  /** How the operator was installed: stands on all telemetry. */
  deploymentMethod: text,
  clusterName: setting('cluster.name', text),
  endpoint: setting('endpoint.otlp.url', text),
  logsEndpoint: setting('endpoint.otlp.logs_url', text),
  monitoredNamespaces: setting('monitoredNamespaces', maps<MonitoredEntry>()),
  tokenSecret: setting('lumigoToken.secretName', text),
  tokenKey: setting('lumigoToken.secretKey', text),
  /** Where the telemetry proxy finds its configuration, and where it keeps what it has not sent yet. */
  telemetryProxyDirectory: text,
  /** Where the manager writes the token that the telemetry proxy asks the API server with. */
  telemetryProxyAccountDirectory: text,
  telemetryProxyQueueDirectory: text,
  telemetryProxyQueueLaneSize: setting('controllerManager.telemetryProxy.queue.laneSize', text),
  otlpHttpPort: setting('ports.otlpHttp', wholeNumber),
  otlpGrpcPort: setting('ports.otlpGrpc', wholeNumber),
  telemetryHealthPort: setting('ports.telemetryHealth', wholeNumber),
  telemetryMetricsPort: setting('ports.telemetryMetrics', wholeNumber),
  telemetryLoopPort: setting('ports.telemetryLoop', wholeNumber),
  /** Where the telemetry proxy finds that token: as any program in a pod or, beside a cluster, by its KUBECONFIG. */
  telemetryProxyCredentials: oneOf('serviceAccount', 'kubeConfig'),
  logLevel: oneOf('error', 'warn', 'info', 'debug'),
};

export type RuntimeConfig = Configuration<typeof managerKinds>;

export const fromEnvironment = (environment: NodeJS.ProcessEnv): RuntimeConfig =>
  readConfiguration(managerKinds, environment);

const { version, operatorName, operatorNamespace, logLevel } = managerKinds;

/** What the updater is told in the same way. */
export const updaterKinds = {
  ...{ version, operatorName, operatorNamespace, logLevel },
  /** Whether it upgrades the release, or only looks and tells. */
  mode: oneOf('upgrade', 'check'),
  /** The chart repository, by its index (https://…) or as a registry's folder (oci://…); empty: there is none. */
  repository: text,
  versions: setting('updater.versions', text),
  /** A file of public keys that a chart must be signed by; empty: none is checked. */
  keyring: text,
  unsigned: setting('updater.verify.unsigned', oneOf('refuse', 'accept')),
  timeoutSeconds: setting('updater.timeoutSeconds', wholeNumber),
};

export type UpdaterConfig = Configuration<typeof updaterKinds>;

/** What is assumed where the settings cannot be read: their defaults, as a test compares (infra/constructs/contract.test.ts). */
export const assumedSettings = {
  injectorImagePullPolicy: 'IfNotPresent',
  injectorImagePullSecrets: [],
  injectorSidecars: knownSidecars,
  platform: 'auto',
  updateOnUpgrade: false,
  rolloutStrategy: 'progressive',
  rolloutSoakSeconds: 10,
  rolloutLargestWave: 50,
  excludedNamespaces,
} as const satisfies Partial<RuntimeConfig>;

/** The part of the configuration that decides what the operator would do with a workload. */
export type InjectionConfig = Pick<
  RuntimeConfig,
  keyof typeof assumedSettings | 'version' | 'operatorNamespace' | 'injectorImage' | 'telemetryProxyUrl'
>;

/** The part of the configuration that the injection needs. */
export const injectorOf = (config: InjectionConfig): InjectorSettings => ({
  version: config.version,
  image: config.injectorImage,
  imagePullPolicy: config.injectorImagePullPolicy,
  imagePullSecrets: config.injectorImagePullSecrets,
  endpoint: config.telemetryProxyUrl,
  platform: config.platform === 'openshift' ? 'openshift' : 'kubernetes',
  sidecars: config.injectorSidecars,
});

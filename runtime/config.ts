import { excludedNamespaces, mounts, ports, webhooks } from './contract.ts';
import { environmentTable, field, integer, list, name, nonEmpty, oneOf, port, text, url } from './environment.ts';
import type { InjectorSettings } from './injection/types.ts';

/**
 * What a process of the operator is told by whoever installs it. Each field is one environment variable: the table
 * below reads and writes it, so the constructs and the runtime cannot disagree on a name or a form.
 */
export interface RuntimeConfig {
  /** The operator's version, e.g. `1.2.3`; part of the label on what it instruments. */
  readonly version: string;
  /** The installation's name, from which the names of its objects derive, e.g. `lumigo-lumigo-operator`. */
  readonly operatorName: string;
  readonly operatorNamespace: string;
  readonly serviceAccount: string;
  /** Who holds the leader's Lease: the pod's name. */
  readonly podName: string;
  readonly injectorImage: string;
  readonly injectorImagePullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  readonly injectorImagePullSecrets: readonly string[];
  /** The base URL that instrumented programs send to, without a trailing slash. */
  readonly telemetryProxyUrl: string;
  readonly platform: 'kubernetes' | 'openshift';
  /** Whether an operator upgrade renews the injection of existing workloads, which restarts them. */
  readonly updateOnUpgrade: boolean;
  /** How many workloads may be changing at once, in all and in one namespace. */
  readonly changesConcurrent: number;
  readonly changesConcurrentPerNamespace: number;
  /** How long a changed workload keeps its place among those. */
  readonly changesSettleSeconds: number;
  /** Namespaces that are never instrumented, whatever Lumigo they hold; the operator's own is always one of them. */
  readonly excludedNamespaces: readonly string[];
  /** How long a workload that cannot be updated may hold up the deletion of its Lumigo. */
  readonly removalDeadlineSeconds: number;
  /** How long the webhook goes on answering after it was told to stop, until every API server has noticed. */
  readonly drainSeconds: number;
  readonly webhookPort: number;
  /** How long the API server waits for the webhook, as its configuration says. */
  readonly webhookTimeoutSeconds: number;
  readonly healthPort: number;
  readonly metricsPort: number;
  /** The address that the three ports are bound to; empty: every address of the pod. */
  readonly listenAddress: string;
  /** A folder with the webhook's certificate, for a manager beside a cluster; empty: the operator's own Secret. */
  readonly certificatesDirectory: string;
  /** Who makes that certificate: the operator where nobody else has, or always somebody else, such as cert-manager. */
  readonly certificatesIssuer: 'operator' | 'external';
  /** What the API server calls the webhook by: a DNS name or an IP address. */
  readonly webhookHost: string;
  /** How the operator was installed: stands on all telemetry. */
  readonly deploymentMethod: string;
  /** A name for the cluster, shown with its telemetry; may be empty. */
  readonly clusterName: string;
  /** Where the telemetry proxy sends everything, by OTLP over HTTP: a base URL without a trailing slash. */
  readonly endpoint: string;
  /** Where the telemetry proxy finds its configuration, and where it keeps what it has not sent yet. */
  readonly telemetryProxyDirectory: string;
  readonly telemetryProxyQueueDirectory: string;
  readonly telemetryProxyQueueBatches: number;
  /** The telemetry proxy's ports, which it shares its pod's addresses with; the last on loopback only. */
  readonly otlpHttpPort: number;
  readonly otlpGrpcPort: number;
  readonly telemetryHealthPort: number;
  readonly telemetryMetricsPort: number;
  readonly telemetryLoopPort: number;
  /** As whom the telemetry proxy asks the API server: its pod's ServiceAccount or, beside a cluster, KUBECONFIG. */
  readonly telemetryProxyCredentials: 'serviceAccount' | 'kubeConfig';
  readonly logLevel: 'error' | 'warn' | 'info' | 'debug';
}

export const { variableOf, toEnvironment, fromEnvironment } = environmentTable<RuntimeConfig>({
  version: field('LUMIGO_OPERATOR_VERSION', nonEmpty),
  operatorName: field('LUMIGO_OPERATOR_NAME', name),
  operatorNamespace: field('LUMIGO_OPERATOR_NAMESPACE', name),
  serviceAccount: field('LUMIGO_SERVICE_ACCOUNT', name),
  podName: field('LUMIGO_POD_NAME', name),
  injectorImage: field('LUMIGO_INJECTOR_IMAGE', nonEmpty),
  injectorImagePullPolicy: field(
    'LUMIGO_INJECTOR_IMAGE_PULL_POLICY',
    oneOf('Always', 'IfNotPresent', 'Never'),
    'IfNotPresent',
  ),
  injectorImagePullSecrets: list('LUMIGO_INJECTOR_IMAGE_PULL_SECRETS', []),
  telemetryProxyUrl: field('LUMIGO_TELEMETRY_PROXY_URL', url),
  platform: field('LUMIGO_PLATFORM', oneOf('kubernetes', 'openshift'), 'kubernetes'),
  updateOnUpgrade: field(
    'LUMIGO_INJECTION_UPDATE_ON_UPGRADE',
    (value) => oneOf('true', 'false')(value) === 'true',
    false,
  ),
  changesConcurrent: field('LUMIGO_CHANGES_CONCURRENT', integer(1, 256), 16),
  changesConcurrentPerNamespace: field('LUMIGO_CHANGES_CONCURRENT_PER_NAMESPACE', integer(1, 256), 16),
  changesSettleSeconds: field('LUMIGO_CHANGES_SETTLE_SECONDS', integer(0, 3600), 0),
  excludedNamespaces: list('LUMIGO_EXCLUDED_NAMESPACES', excludedNamespaces),
  removalDeadlineSeconds: field('LUMIGO_REMOVAL_DEADLINE_SECONDS', integer(1, 86_400), 120),
  drainSeconds: field('LUMIGO_DRAIN_SECONDS', integer(0, 60), 5),
  webhookPort: field('LUMIGO_WEBHOOK_PORT', port, ports.webhook),
  webhookTimeoutSeconds: field('LUMIGO_WEBHOOK_TIMEOUT_SECONDS', integer(1, 30), webhooks.timeoutSeconds),
  healthPort: field('LUMIGO_HEALTH_PORT', port, ports.health),
  metricsPort: field('LUMIGO_METRICS_PORT', port, ports.metrics),
  listenAddress: field('LUMIGO_LISTEN_ADDRESS', text(/^[0-9a-fA-F.:]*$/, 'an IP address'), ''),
  certificatesDirectory: field('LUMIGO_CERTIFICATES_DIR', String, ''),
  certificatesIssuer: field('LUMIGO_CERTIFICATES_ISSUER', oneOf('operator', 'external'), 'operator'),
  webhookHost: field('LUMIGO_WEBHOOK_HOST', nonEmpty),
  deploymentMethod: field('LUMIGO_OPERATOR_DEPLOYMENT_METHOD', nonEmpty, 'Manifests'),
  clusterName: field('LUMIGO_CLUSTER_NAME', String, ''),
  endpoint: field('LUMIGO_ENDPOINT', url),
  telemetryProxyDirectory: field('LUMIGO_TELEMETRY_PROXY_DIR', nonEmpty, mounts.telemetryProxyConfiguration),
  telemetryProxyQueueDirectory: field('LUMIGO_TELEMETRY_PROXY_QUEUE_DIR', nonEmpty, mounts.telemetryProxyQueue),
  telemetryProxyQueueBatches: field('LUMIGO_TELEMETRY_PROXY_QUEUE_BATCHES', integer(1, 1_000_000), 5_000),
  otlpHttpPort: field('LUMIGO_OTLP_HTTP_PORT', port, ports.otlpHttp),
  otlpGrpcPort: field('LUMIGO_OTLP_GRPC_PORT', port, ports.otlpGrpc),
  telemetryHealthPort: field('LUMIGO_TELEMETRY_PROXY_HEALTH_PORT', port, ports.telemetryHealth),
  telemetryMetricsPort: field('LUMIGO_TELEMETRY_PROXY_METRICS_PORT', port, ports.telemetryMetrics),
  telemetryLoopPort: field('LUMIGO_TELEMETRY_PROXY_LOOP_PORT', port, ports.telemetryLoop),
  telemetryProxyCredentials: field(
    'LUMIGO_TELEMETRY_PROXY_CREDENTIALS',
    oneOf('serviceAccount', 'kubeConfig'),
    'serviceAccount',
  ),
  logLevel: field('LUMIGO_LOG_LEVEL', oneOf('error', 'warn', 'info', 'debug'), 'info'),
});

/** The part of the configuration that the injection needs. */
export const injectorOf = (config: RuntimeConfig): InjectorSettings => ({
  version: config.version,
  image: config.injectorImage,
  imagePullPolicy: config.injectorImagePullPolicy,
  imagePullSecrets: config.injectorImagePullSecrets,
  endpoint: config.telemetryProxyUrl,
  platform: config.platform,
});

import { excludedNamespaces, mounts, optInDefaults, ports, webhooks } from '../contract.ts';
import {
  checked,
  emptyOr,
  environmentTable,
  field,
  integer,
  name,
  names,
  nonEmpty,
  oneOf,
  port,
  quantity,
  setting,
  text,
  trueOrFalse,
  url,
  type Configuration,
} from './environment.ts';
import { parseMonitored } from './monitored.ts';
import { knownSidecars } from '../injection/chosen-containers.ts';
import type { InjectorSettings } from '../injection/types.ts';

/**
 * What a process of the operator is told by whoever installs it. Each field is one environment variable, which this table
 * reads and writes, so the constructs and the runtime cannot disagree on a name or a form.
 */
export const managerFields = {
  /** The operator's version, e.g. `1.2.3`; part of the label on what it instruments. */
  version: field('LUMIGO_OPERATOR_VERSION', nonEmpty),
  /** The installation's name, from which the names of its objects derive, e.g. `lumigo-lumigo-operator`. */
  operatorName: setting('name', 'LUMIGO_OPERATOR_NAME', name),
  operatorNamespace: setting('namespace', 'LUMIGO_OPERATOR_NAMESPACE', name),
  serviceAccount: field('LUMIGO_SERVICE_ACCOUNT', name),
  /** Who holds the leader's Lease: the pod's name. */
  podName: field('LUMIGO_POD_NAME', name),
  injectorImage: field('LUMIGO_INJECTOR_IMAGE', nonEmpty),
  injectorImagePullPolicy: setting(
    'injection.imagePullPolicy',
    'LUMIGO_INJECTOR_IMAGE_PULL_POLICY',
    oneOf('Always', 'IfNotPresent', 'Never'),
    'IfNotPresent',
  ),
  injectorImagePullSecrets: setting('injection.imagePullSecrets', 'LUMIGO_INJECTOR_IMAGE_PULL_SECRETS', names, []),
  /** Names of containers that are left alone unless an annotation asks for them. */
  injectorSidecars: setting('injection.sidecars', 'LUMIGO_INJECTION_SIDECARS', names, knownSidecars),
  /** The base URL that instrumented programs send to, without a trailing slash. */
  telemetryProxyUrl: field('LUMIGO_TELEMETRY_PROXY_URL', url),
  platform: setting('platform', 'LUMIGO_PLATFORM', oneOf('auto', 'kubernetes', 'openshift'), 'auto'),
  /** Whether an operator upgrade renews the injection of existing workloads, which restarts them. */
  updateOnUpgrade: setting('injection.updateOnUpgrade', 'LUMIGO_INJECTION_UPDATE_ON_UPGRADE', trueOrFalse, false),
  /** Whether there is a webhook for pods, for the Lumigo resources that ask for Pod mode. */
  podMode: setting('injection.podMode', 'LUMIGO_INJECTION_POD_MODE', trueOrFalse, false),
  /** How workloads that exist already are instrumented. */
  rolloutStrategy: setting(
    'rollout.strategy',
    'LUMIGO_ROLLOUT_STRATEGY',
    oneOf('progressive', 'immediate', 'on-next-change', 'manual'),
    'progressive',
  ),
  /** How long all pods of a workload are to be ready before the next workloads are changed. */
  rolloutSoakSeconds: setting('rollout.soakSeconds', 'LUMIGO_ROLLOUT_SOAK_SECONDS', integer(0, 86_400), 10),
  /** How long no further pod may become ready until the workload is put back. */
  rolloutDeadlineSeconds: setting(
    'rollout.deadlineSeconds',
    'LUMIGO_ROLLOUT_DEADLINE_SECONDS',
    integer(1, 86_400),
    300,
  ),
  /** How many workloads of a namespace are changed together at most. */
  rolloutLargestWave: setting('rollout.largestWave', 'LUMIGO_ROLLOUT_LARGEST_WAVE', integer(1, 1_000), 50),
  /** How many workloads may be changing at once, in all and in one namespace. */
  rolloutConcurrent: setting('rollout.concurrent', 'LUMIGO_ROLLOUT_CONCURRENT', integer(1, 256), 16),
  rolloutConcurrentPerNamespace: setting(
    'rollout.concurrentPerNamespace',
    'LUMIGO_ROLLOUT_CONCURRENT_PER_NAMESPACE',
    integer(1, 256),
    16,
  ),
  /** How long a changed workload keeps its place among those. */
  rolloutSettleSeconds: setting('rollout.settleSeconds', 'LUMIGO_ROLLOUT_SETTLE_SECONDS', integer(0, 3600), 0),
  /** Namespaces that are never instrumented, whatever Lumigo they hold; the operator's own is always one of them. */
  excludedNamespaces: setting('webhook.excludedNamespaces', 'LUMIGO_EXCLUDED_NAMESPACES', names, excludedNamespaces),
  /** How long a workload that cannot be updated may hold up the deletion of its Lumigo. */
  removalDeadlineSeconds: setting(
    'removal.deadlineSeconds',
    'LUMIGO_REMOVAL_DEADLINE_SECONDS',
    integer(1, 86_400),
    120,
  ),
  /** How long the webhook goes on answering after it was told to stop, until every API server has noticed. */
  drainSeconds: field('LUMIGO_DRAIN_SECONDS', integer(0, 60), 5),
  webhookPort: setting('ports.webhook', 'LUMIGO_WEBHOOK_PORT', port, ports.webhook),
  /** How long the API server waits for the webhook, as its configuration says. */
  webhookTimeoutSeconds: setting(
    'webhook.timeoutSeconds',
    'LUMIGO_WEBHOOK_TIMEOUT_SECONDS',
    integer(1, 30),
    webhooks.timeoutSeconds,
  ),
  healthPort: setting('ports.health', 'LUMIGO_HEALTH_PORT', port, ports.health),
  metricsPort: setting('ports.metrics', 'LUMIGO_METRICS_PORT', port, ports.metrics),
  /** Whether metrics are served over TLS, to whoever the API server says may read them; else plainly, to anybody. */
  metricsSecure: setting('metrics.secure', 'LUMIGO_METRICS_SECURE', trueOrFalse, false),
  /** The address that the three ports are bound to; empty: every address of the pod. */
  listenAddress: field('LUMIGO_LISTEN_ADDRESS', text(/^[0-9a-fA-F.:]*$/, 'an IP address'), ''),
  /** A folder with the webhook's certificate, for a manager beside a cluster; empty: the operator's own Secret. */
  certificatesDirectory: field('LUMIGO_CERTIFICATES_DIR', String, ''),
  /** Who makes that certificate: the operator where nobody else has, or always somebody else, such as cert-manager. */
  certificatesIssuer: field('LUMIGO_CERTIFICATES_ISSUER', oneOf('operator', 'external'), 'operator'),
  /** What the API server calls the webhook by: a DNS name or an IP address. */
  webhookHost: field('LUMIGO_WEBHOOK_HOST', nonEmpty),
  /** How the operator was installed: stands on all telemetry. */
  deploymentMethod: field('LUMIGO_OPERATOR_DEPLOYMENT_METHOD', nonEmpty, 'Manifests'),
  /** A name for the cluster, shown with its telemetry; may be empty. */
  clusterName: setting('cluster.name', 'LUMIGO_CLUSTER_NAME', String, ''),
  /** Where the telemetry proxy sends everything, by OTLP over HTTP: a base URL without a trailing slash. */
  endpoint: setting('endpoint.otlp.url', 'LUMIGO_ENDPOINT', url),
  /** Where it sends logs, if not there; may be empty. */
  logsEndpoint: setting('endpoint.otlp.logs_url', 'LUMIGO_LOGS_ENDPOINT', emptyOr(url), ''),
  /** The namespaces to monitor (monitoring/plan-monitoring.ts), as JSON. */
  monitoredNamespaces: field('LUMIGO_MONITORED_NAMESPACES', checked(parseMonitored), '[]'),
  /** Where the token for these stands: in the operator's own namespace and, unless one says otherwise, in each of them. */
  tokenSecret: setting('lumigoToken.secretName', 'LUMIGO_TOKEN_SECRET', name, optInDefaults.tokenSecret),
  tokenKey: setting('lumigoToken.secretKey', 'LUMIGO_TOKEN_KEY', nonEmpty, optInDefaults.tokenKey),
  /** Where the telemetry proxy finds its configuration, and where it keeps what it has not sent yet. */
  telemetryProxyDirectory: field('LUMIGO_TELEMETRY_PROXY_DIR', nonEmpty, mounts.telemetryProxyConfiguration),
  /** Where the manager writes the token that the telemetry proxy asks the API server with. */
  telemetryProxyAccountDirectory: field('LUMIGO_TELEMETRY_PROXY_ACCOUNT_DIR', nonEmpty, mounts.telemetryProxyAccount),
  telemetryProxyQueueDirectory: field('LUMIGO_TELEMETRY_PROXY_QUEUE_DIR', nonEmpty, mounts.telemetryProxyQueue),
  /** How much each lane may keep there, as Kubernetes writes quantities. */
  telemetryProxyQueueLaneSize: setting(
    'controllerManager.telemetryProxy.queue.laneSize',
    'LUMIGO_TELEMETRY_PROXY_QUEUE_LANE_SIZE',
    quantity,
    '512Mi',
  ),
  /** The telemetry proxy's ports, which it shares its pod's addresses with; the last on loopback only. */
  otlpHttpPort: setting('ports.otlpHttp', 'LUMIGO_OTLP_HTTP_PORT', port, ports.otlpHttp),
  otlpGrpcPort: setting('ports.otlpGrpc', 'LUMIGO_OTLP_GRPC_PORT', port, ports.otlpGrpc),
  telemetryHealthPort: setting(
    'ports.telemetryHealth',
    'LUMIGO_TELEMETRY_PROXY_HEALTH_PORT',
    port,
    ports.telemetryHealth,
  ),
  telemetryMetricsPort: setting(
    'ports.telemetryMetrics',
    'LUMIGO_TELEMETRY_PROXY_METRICS_PORT',
    port,
    ports.telemetryMetrics,
  ),
  telemetryLoopPort: setting('ports.telemetryLoop', 'LUMIGO_TELEMETRY_PROXY_LOOP_PORT', port, ports.telemetryLoop),
  /** Where the telemetry proxy finds that token: as any program in a pod or, beside a cluster, by its KUBECONFIG. */
  telemetryProxyCredentials: field(
    'LUMIGO_TELEMETRY_PROXY_CREDENTIALS',
    oneOf('serviceAccount', 'kubeConfig'),
    'serviceAccount',
  ),
  logLevel: field('LUMIGO_LOG_LEVEL', oneOf('error', 'warn', 'info', 'debug'), 'info'),
};

export type RuntimeConfig = Configuration<typeof managerFields>;

export const { variableOf, toEnvironment, fromEnvironment } = environmentTable(managerFields);

const { version, operatorName, operatorNamespace, podName, logLevel } = managerFields;

/** What the updater is told in the same way. */
export const updaterFields = {
  ...{ version, operatorName, operatorNamespace, podName },
  /** Whether it upgrades the release, or only looks and tells. */
  mode: field('LUMIGO_UPDATER_MODE', oneOf('upgrade', 'check')),
  /** The chart repository, by its index (https://…) or as a registry's folder (oci://…); empty: there is none. */
  repository: field('LUMIGO_CHART_REPOSITORY', text(/^(https?|oci):\/\/\S+[^/]$/, 'an https:// or oci:// URL'), ''),
  /** A range of semantic versions; empty: the installed major version. */
  versions: setting('updater.versions', 'LUMIGO_CHART_VERSIONS', String, ''),
  /** A file of public keys that a chart must be signed by; empty: none is checked. */
  keyring: field('LUMIGO_CHART_KEYRING', String, ''),
  /** What to do where there is none. */
  unsigned: setting('updater.verify.unsigned', 'LUMIGO_CHART_UNSIGNED', oneOf('refuse', 'accept'), 'refuse'),
  /** How long the upgraded operator may take until it is ready, and the same again for a rollback. */
  timeoutSeconds: setting('updater.timeoutSeconds', 'LUMIGO_UPDATE_TIMEOUT_SECONDS', integer(1, 86_400), 600),
  logLevel,
};

export type UpdaterConfig = Configuration<typeof updaterFields>;

export const updaterEnvironment = environmentTable(updaterFields);

/** The part of the configuration that the injection needs. */
export const injectorOf = (config: RuntimeConfig): InjectorSettings => ({
  version: config.version,
  image: config.injectorImage,
  imagePullPolicy: config.injectorImagePullPolicy,
  imagePullSecrets: config.injectorImagePullSecrets,
  endpoint: config.telemetryProxyUrl,
  platform: config.platform === 'openshift' ? 'openshift' : 'kubernetes',
  sidecars: config.injectorSidecars,
});

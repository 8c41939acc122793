/** The names, paths and ports that the runtime uses and the constructs render. It imports nothing. */

export const lumigo = {
  group: 'operator.lumigo.io',
  version: 'v1alpha1',
  apiVersion: 'operator.lumigo.io/v1alpha1',
  kind: 'Lumigo',
  plural: 'lumigoes',
  singular: 'lumigo',
  shortName: 'lum',
  finalizer: 'operator.lumigo.io/lumigo-finalizer',
} as const;

export const labels = {
  /** Values: `false` to opt out, `true` to opt in without a `Lumigo`, and `lumigo-operator.v…` if instrumented. */
  autoTrace: 'lumigo.auto-trace',
  tokenSecret: 'lumigo.token-secret',
  tokenKey: 'lumigo.token-key',
  enableTraces: 'lumigo.enable-traces',
  enableLogs: 'lumigo.enable-logs',
  /** `reverted`: the injection was removed, for the reason in the operator's annotation. */
  rollout: 'lumigo.rollout',
  installation: 'operator.lumigo.io/installation',
} as const;

/** The settings of an opted-in workload without a `Lumigo`, unless its labels set them. */
export const optInDefaults = {
  tokenSecret: 'lumigo-credentials',
  tokenKey: 'token',
  traces: true,
  logs: false,
} as const;

/** Keeps the operator's account and rights while there is something to clean up. */
export const cleanupFinalizer = 'operator.lumigo.io/clean-up';

export const annotations = {
  /** On the workload: the last change (injection/injection-status.ts), or the reason for a revert (injection/revert.ts). */
  instrumentation: 'operator.lumigo.io/instrumentation',
  /** On the pod template: the injection and the values that it replaced (injection/original-state.ts). */
  injection: 'operator.lumigo.io/injection',
  /** Set by a user: a new value asks for another attempt, and with `manual` for the first. */
  retry: 'lumigo.retry',
  /** Set by a user on a workload or pod template: comma-separated names of containers. */
  injectContainers: 'lumigo.inject-containers',
  excludeContainers: 'lumigo.exclude-containers',
  mirror: 'kubernetes.io/config.mirror',
  /** The `namespace/name` of a webhook configuration's installation (installation/standby.ts). */
  installation: 'operator.lumigo.io/installation',
  cleanedUpBy: 'operator.lumigo.io/cleaned-up-by',
  /** Comma-separated local volumes with which the cluster autoscaler still removes a node. */
  safeToEvict: 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes',
} as const;

/** The autotrace image depends on these names and paths. */
export const injector = {
  volume: 'lumigo-injector',
  volumeSizeLimit: '200M',
  container: 'lumigo-injector',
  targetDirectory: '/target',
  targetVariable: 'TARGET_DIRECTORY',
  mountPath: '/opt/lumigo',
  preload: '/opt/lumigo/injector/lumigo_injector.so',
  fallbackUser: 1234,
} as const;

export const environment = {
  preload: 'LD_PRELOAD',
  token: 'LUMIGO_TRACER_TOKEN',
  endpoint: 'LUMIGO_ENDPOINT',
} as const;

export const otlpPaths = { traces: '/v1/traces', logs: '/v1/logs', metrics: '/v1/metrics' } as const;
export type Signal = keyof typeof otlpPaths;
export const signals = Object.keys(otlpPaths) as readonly Signal[];

export interface WorkloadKind {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly template: readonly string[];
  readonly mutable: boolean;
  /**
   * How spec and status count the pods that a change replaces (rollout/completion.ts). `replicas` keep old pods until
   * new ones serve, `nodes` have one each, `ordinals` go one by one.
   */
  readonly pods?: 'replicas' | 'nodes' | 'ordinals';
  /** The product with its definition, which may be installed or removed later; undefined for Kubernetes. */
  readonly addOn?: string;
}

const workload = (group: string, kind: string, more: Partial<WorkloadKind> = {}): WorkloadKind => ({
  group,
  version: 'v1',
  apiVersion: `${group}/${more.version ?? 'v1'}`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  template: ['spec', 'template'],
  mutable: true,
  ...more,
});

export const workloadKinds = {
  deployment: workload('apps', 'Deployment', { pods: 'replicas' }),
  daemonSet: workload('apps', 'DaemonSet', { pods: 'nodes' }),
  statefulSet: workload('apps', 'StatefulSet', { pods: 'ordinals' }),
  replicaSet: workload('apps', 'ReplicaSet'),
  cronJob: workload('batch', 'CronJob', { template: ['spec', 'jobTemplate', 'spec', 'template'] }),
  job: workload('batch', 'Job', { mutable: false }),
  rollout: workload('argoproj.io', 'Rollout', { version: 'v1alpha1', pods: 'replicas', addOn: 'Argo Rollouts' }),
} as const;

export const workloads = Object.values(workloadKinds);

export const pods = { group: '', version: 'v1', plural: 'pods' } as const;

/** An Authorization header is `LumigoToken t_…`. */
export const tokenScheme = 'LumigoToken';

export const excludedNamespaces = ['kube-system', 'kube-node-lease', 'kube-public'] as const;

/** The oldest minor version of Kubernetes with mutating policies, which Pod mode needs. */
export const podModeKubernetes = 36;

export const paths = {
  inject: '/v1alpha1/inject',
  lumigoes: '/v1alpha1/lumigoes',
  live: '/healthz',
  ready: '/readyz',
  metrics: '/metrics',
  /** With `metrics.secure` the manager's port serves the telemetry proxy's metrics, too. */
  telemetryProxyMetrics: '/metrics/telemetry-proxy',
} as const;

export const webhooks = {
  injector: 'injector.operator.lumigo.io',
  lumigoes: 'lumigoes.operator.lumigo.io',
  timeoutSeconds: 5,
} as const;

export const probeLabel = 'operator.lumigo.io/webhook-probe';
export const probeEchoPrefix = 'lumigo webhook probe ';
/** `lumigo check` probes the webhook here unless a namespace is named. Every cluster has it. */
export const probeNamespace = 'default';

export const ports = {
  webhook: 9443,
  health: 8081,
  metrics: 8080,
  otlpHttp: 4318,
  otlpGrpc: 4317,
  telemetryHealth: 13133,
  telemetryMetrics: 8888,
  /** On loopback only. The telemetry proxy sends collected data to itself there, with the namespace's token. */
  telemetryLoop: 4319,
  /** On loopback only. The telemetry proxy shows there which workloads it received data from. */
  telemetryCounts: 8889,
  /** The nodes' collectors send log lines and metrics there, with a key of the installation. */
  nodeData: 4320,
} as const;

export const mounts = {
  telemetryProxyConfiguration: '/etc/lumigo/telemetry-proxy',
  telemetryProxyQueue: '/var/lib/lumigo/telemetry-proxy',
  telemetryProxyAccount: '/etc/lumigo/telemetry-proxy-account',
  serviceAccount: '/var/run/secrets/kubernetes.io/serviceaccount',
  nodeCollectorConfiguration: '/etc/lumigo/node-collector',
  nodeCollectorKey: '/etc/lumigo/node-collector-key',
  nodeCollectorState: '/var/lib/lumigo/node-collector',
  podLogs: '/var/log/pods',
} as const;

/** Files in memory: accepted tokens, one per line, and the key of the loop port. */
export const telemetryProxyFiles = {
  configuration: 'collector.json',
  tokens: 'tokens',
  loopKey: 'loop-key',
  nodeKeys: 'node-keys',
} as const;

/** The key is also the name of the Secret's entry. */
export const nodeCollectorFiles = { configuration: 'collector.json', key: 'key' } as const;

export const nodeVariables = { name: 'NODE_NAME', address: 'NODE_ADDRESS' } as const;

export const accountFiles = { token: 'token', authority: 'ca.crt', namespace: 'namespace' } as const;

export const certificateFiles = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' } as const;

export const suffixes = {
  manager: '-controller-manager',
  webhookService: '-webhooks-service',
  telemetryProxy: '-telemetry-proxy',
  telemetryProxyService: '-telemetry-proxy-service',
  nodeCollector: '-node-collector',
  nodeData: '-node-data',
  kubeStateMetrics: '-kube-state-metrics',
  metricsService: '-controller-manager-metrics-service',
  injectorWebhook: '-injector-webhook',
  podPolicy: '-pod-policy',
  certificates: '-webhook-certificates',
  telemetryProxyRole: '-telemetry-proxy-role',
  namespaceLabelsRole: '-namespace-labels-role',
  /** Not the original's `-manager-role`: a rollback to it must not remove these rights. */
  managerRole: '-controller-manager-role',
  metricsRole: '-metrics-auth-role',
  monitoringRole: '-monitored-namespaces-role',
  monitored: '-monitored-namespaces',
  received: '-received-telemetry',
  leaderElectionRole: '-leader-election-role',
  editorRole: '-lumigo-editor-role',
  viewerRole: '-lumigo-viewer-role',
  priorityClass: '-priority',
  uninstall: '-uninstall',
  check: '-check',
  updater: '-updater',
  dashboard: '-dashboard',
  guardWorkloads: '-guard-workloads',
  guardInstallation: '-guard-installation',
  guardNamespaces: '-guard-namespaces',
  lease: '-leader',
} as const;

/** The uids in the ConfigMap of `received`. One namespace cannot fill it, and all of them stay below its limit of 1 MiB. */
export const maxReceived = { perNamespace: 2_000, inAll: 20_000 } as const;

/** Helm's mark on each object of a release. */
export const helmRelease = 'meta.helm.sh/release-name';

export const partOfSelector = 'app.kubernetes.io/part-of=lumigo';
/** Each message of the guard begins with it. */
export const guardAnswer = 'The guard lets the Lumigo operator';
export const managerSelector = `${partOfSelector},app.kubernetes.io/component=controller-manager`;
export const webhookSelector = `${partOfSelector},app.kubernetes.io/component=webhook`;
export const chartName = 'lumigo-operator';
export const managerContainer = 'manager';
/** The original operator's lease, which is not part of its chart. */
export const originalLease = '1447aab8.lumigo.io';
export const fieldManager = 'lumigo-operator';

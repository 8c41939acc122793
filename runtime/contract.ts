/**
 * The contract: every name, label, path, port, workload kind and permission that two parts of the system must agree on.
 * The runtime uses it, the constructs render it, so the two cannot drift. It imports nothing.
 */

export const lumigo = {
  group: 'operator.lumigo.io',
  version: 'v1alpha1',
  apiVersion: 'operator.lumigo.io/v1alpha1',
  kind: 'Lumigo',
  listKind: 'LumigoList',
  plural: 'lumigoes',
  singular: 'lumigo',
  shortName: 'lum',
  finalizer: 'operator.lumigo.io/lumigo-finalizer',
} as const;

export const labels = {
  /** `false`: opted out; `true`: opted in without a Lumigo; `lumigo-operator.v…`: instrumented by that version. */
  autoTrace: 'lumigo.auto-trace',
  tokenSecret: 'lumigo.token-secret',
  tokenKey: 'lumigo.token-key',
  enableTraces: 'lumigo.enable-traces',
  enableLogs: 'lumigo.enable-logs',
  /** `reverted`: its injection was removed because of what its pods did; the operator's annotation says why. */
  rollout: 'lumigo.rollout',
} as const;

/** What an opted-in workload (`lumigo.auto-trace: "true"`, no Lumigo) uses where its labels say nothing. */
export const optInDefaults = {
  tokenSecret: 'lumigo-credentials',
  tokenKey: 'token',
  traces: true,
  logs: false,
} as const;

/** Holds the operator's own account and rights while there is something that it would have to clean up. */
export const cleanupFinalizer = 'operator.lumigo.io/clean-up';

export const annotations = {
  /** On the workload: what was changed last, when, for which settings (injection/stamp.ts), or why it was reverted (revert.ts). */
  instrumentation: 'operator.lumigo.io/instrumentation',
  /** On the pod template: what was written, and what of the user's gave way to it (injection/record.ts). */
  injection: 'operator.lumigo.io/injection',
  /** A user's: another value asks for another try of an injection that was put back, and with `manual` for the first. */
  retry: 'lumigo.retry',
  /** A user's, on workload or pod template: the names of the containers that are injected, comma-separated, and of those that are not. */
  injectContainers: 'lumigo.inject-containers',
  excludeContainers: 'lumigo.exclude-containers',
  mirror: 'kubernetes.io/config.mirror',
  /** `namespace/name` of the installation that a webhook configuration belongs to (installation/standby.ts). */
  installation: 'operator.lumigo.io/installation',
  /** Local volumes that do not keep the cluster autoscaler from removing a node, comma-separated. */
  safeToEvict: 'cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes',
} as const;

/** What the injection adds to a pod template. The autotrace image relies on these names and paths. */
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

/** Of the injected variables (injection/variables.ts) those that are looked for elsewhere too. */
export const environment = {
  preload: 'LD_PRELOAD',
  token: 'LUMIGO_TRACER_TOKEN',
  endpoint: 'LUMIGO_ENDPOINT',
} as const;

/** Paths below the telemetry proxy's base URL. */
export const otlpPaths = { traces: '/v1/traces', logs: '/v1/logs' } as const;

export interface WorkloadKind {
  readonly group: string;
  readonly version: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Where the pod template stands in the object. */
  readonly template: readonly string[];
  /** Whether the pod template can change once the object exists: a Job's cannot. */
  readonly mutable: boolean;
  /**
   * How its spec and status count the pods that a change of the template replaces (rollout/completion.ts). Undefined: none that run.
   * `replicas` keep old pods until new ones serve; `nodes` have one each; `ordinals` go one by one, from the last to a partition.
   */
  readonly pods: 'replicas' | 'nodes' | 'ordinals' | undefined;
  /** What brings its definition, which may be absent, come and go: then there is nothing of it to wait for. Undefined: Kubernetes. */
  readonly addOn: string | undefined;
}

const workload = <const Kind extends string>(group: string, kind: Kind, more: Partial<WorkloadKind> = {}) => ({
  group,
  version: 'v1',
  apiVersion: `${group}/${more.version ?? 'v1'}`,
  kind,
  plural: `${kind.toLowerCase()}s`,
  template: ['spec', 'template'],
  mutable: true,
  pods: undefined,
  addOn: undefined,
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
} as const satisfies Readonly<Record<string, WorkloadKind>>;

export const workloads = Object.values(workloadKinds);

export const pods = { group: '', version: 'v1', plural: 'pods' } as const;

/** Kinds whose pod template is decided by their controller, if that is a workload itself. */
export const followers: readonly string[] = ['ReplicaSet', 'Job'] satisfies (typeof workloads)[number]['kind'][];

/** How a token stands in an Authorization header: `LumigoToken t_…`. */
export const tokenScheme = 'LumigoToken';

/** Namespaces whose workloads never reach the webhook; the operator's own joins them. */
export const excludedNamespaces = ['kube-system', 'kube-node-lease', 'kube-public'] as const;

/** The oldest minor version of Kubernetes with policies that mutate: Pod mode needs them. */
export const podModeKubernetes = 36;

export const paths = {
  inject: '/v1alpha1/inject',
  /** Admission of Lumigo resources: refuses a second one in a namespace, and answers the reachability probe. */
  lumigoes: '/v1alpha1/lumigoes',
  live: '/healthz',
  ready: '/readyz',
  metrics: '/metrics',
  /** With `metrics.secure`: those of the telemetry proxy, through the manager's port. */
  telemetryProxyMetrics: '/metrics/telemetry-proxy',
} as const;

export const webhooks = {
  injector: 'injector.operator.lumigo.io',
  lumigoes: 'lumigoes.operator.lumigo.io',
  timeoutSeconds: 5,
} as const;

/** A label the reachability probe sets in its dry-run patches; the webhook echoes its value as a warning. */
export const probeLabel = 'operator.lumigo.io/webhook-probe';
export const probeEchoPrefix = 'lumigo webhook probe ';

export const ports = {
  webhook: 9443,
  health: 8081,
  metrics: 8080,
  otlpHttp: 4318,
  otlpGrpc: 4317,
  telemetryHealth: 13133,
  telemetryMetrics: 8888,
  /** On loopback only: where the telemetry proxy hands itself what it collected, under the token of its namespace. */
  telemetryLoop: 4319,
} as const;

export const mounts = {
  telemetryProxyConfiguration: '/etc/lumigo/telemetry-proxy',
  telemetryProxyQueue: '/var/lib/lumigo/telemetry-proxy',
  /** Where the manager writes what the telemetry proxy's container finds at the next one. */
  telemetryProxyAccount: '/etc/lumigo/telemetry-proxy-account',
  serviceAccount: '/var/run/secrets/kubernetes.io/serviceaccount',
} as const;

/** Files in the configuration's folder, which is memory: accepted tokens, one a line, and the key of the collector's loop. */
export const telemetryProxyFiles = { configuration: 'collector.json', tokens: 'tokens', loopKey: 'loop-key' } as const;

/** What a program in a pod finds of its ServiceAccount (`mounts.serviceAccount`). */
export const accountFiles = { token: 'token', authority: 'ca.crt', namespace: 'namespace' } as const;

export const certificateFiles = { certificate: 'tls.crt', key: 'tls.key', authority: 'ca.crt' } as const;

/** Names that derive from the installation's own name, e.g. `lumigo-lumigo-operator`. */
export const suffixes = {
  manager: '-controller-manager',
  webhookService: '-webhooks-service',
  telemetryProxy: '-telemetry-proxy',
  telemetryProxyService: '-telemetry-proxy-service',
  metricsService: '-controller-manager-metrics-service',
  injectorWebhook: '-injector-webhook',
  podPolicy: '-pod-policy',
  certificates: '-webhook-certificates',
  certificateAuthority: '-webhook-authority',
  telemetryProxyRole: '-telemetry-proxy-role',
  /** Not the original's (`-manager-role`): a rollback to that one must not take these rights while they are held. */
  managerRole: '-controller-manager-role',
  metricsRole: '-metrics-auth-role',
  monitoringRole: '-monitored-namespaces-role',
  /** The ConfigMap that remembers which namespaces got their `Lumigo`. */
  monitored: '-monitored-namespaces',
  leaderElectionRole: '-leader-election-role',
  editorRole: '-lumigo-editor-role',
  viewerRole: '-lumigo-viewer-role',
  priorityClass: '-priority',
  uninstall: '-uninstall',
  updater: '-updater',
  dashboard: '-dashboard',
  guardWorkloads: '-guard-workloads',
  guardInstallation: '-guard-installation',
  guardNamespaces: '-guard-namespaces',
  lease: '-leader',
} as const;

export const partOfSelector = 'app.kubernetes.io/part-of=lumigo';
/** Finds the manager's Deployment, whatever the installation's name. */
export const managerSelector = `${partOfSelector},app.kubernetes.io/component=controller-manager`;
/** Finds the webhook configurations of all installations. */
export const webhookSelector = `${partOfSelector},app.kubernetes.io/component=webhook`;
export const chartName = 'lumigo-operator';
export const managerContainer = 'manager';
/** By which the original operator elects its leader, in its own namespace; no object of its chart. */
export const originalLease = '1447aab8.lumigo.io';
export const fieldManager = 'lumigo-operator';

export const eventReasons = {
  added: 'LumigoAddedInstrumentation',
  updated: 'LumigoUpdatedInstrumentation',
  removed: 'LumigoRemovedInstrumentation',
  cannotAdd: 'LumigoCannotAddInstrumentation',
  cannotUpdate: 'LumigoCannotUpdateInstrumentation',
  cannotRemove: 'LumigoCannotRemoveInstrumentation',
  contested: 'LumigoInstrumentationContested',
  reverted: 'LumigoRevertedInstrumentation',
  rolloutHalted: 'LumigoRolloutHalted',
  telemetryFailed: 'LumigoCannotCollectTelemetry',
  tokenRefused: 'LumigoTokenRefused',
  operatorUpdated: 'LumigoOperatorUpdated',
  operatorUpToDate: 'LumigoOperatorUpToDate',
  operatorUpdateAvailable: 'LumigoOperatorUpdateAvailable',
  cannotUpdateOperator: 'LumigoCannotUpdateOperator',
  standsBy: 'LumigoOperatorStandsBy',
} as const;

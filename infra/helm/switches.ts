import { podsOfInstallation } from '../settings/placement.ts';

/** A setting that changes the structure of the objects, or a computed value. The chart is rendered with both values. */
export interface Switch {
  readonly path: string;
  /** The values in the base rendering and in the other one. Undefined means the marker. The first switch wins. */
  readonly off: unknown;
  readonly on: unknown;
  /** Values of other settings in the other rendering. */
  readonly also?: Readonly<Record<string, unknown>>;
  /** The condition for `on`, in Go's template language. */
  readonly condition: string;
}

/** Only an empty value changes the structure. Others become part of the objects. */
const filled = (path: string, empty: unknown = ''): Switch => ({
  path,
  off: empty,
  on: undefined,
  condition: `$.Values.${path}`,
});

/** The base rendering has the value, because more depends on it than on the empty one. */
const emptied = (path: string): Switch => ({ path, off: undefined, on: '', condition: `not $.Values.${path}` });

/** The base rendering must contain an object, so that other switches can change parts of it. */
const switchedOff = (path: string): Switch => ({ path, off: true, on: false, condition: `not $.Values.${path}` });

/** Helm reads `off` without quotes as false. */
const updaterMode = '(toString $.Values.updater.mode)';
export const isUpdaterOff = `has ${updaterMode} (list "off" "false")`;

/** The condition of updater-state.ts. */
const isSuspended = `or (not $.Values.updater.repository) (and (eq ${updaterMode} "upgrade") (not $.Values.updater.verify.keyringSecret) (eq $.Values.updater.verify.unsigned "refuse"))`;

const nodeMetrics = 'clusterCollection.metrics';
const nodeLogs = 'clusterCollection.logs';
const kubeState = 'kubeStateMetrics';

/** The base rendering has everything of the nodes. */
const ofNodes: readonly Switch[] = [
  {
    path: `${nodeLogs}.enabled`,
    off: true,
    on: false,
    also: { [`${nodeMetrics}.enabled`]: false },
    condition: `not (or $.Values.${nodeLogs}.enabled $.Values.${nodeMetrics}.enabled)`,
  },
  switchedOff(`${nodeLogs}.enabled`),
  switchedOff(`${nodeMetrics}.enabled`),
  {
    path: `${nodeMetrics}.essentialOnly`,
    off: true,
    on: false,
    condition: `and $.Values.${nodeMetrics}.enabled (not $.Values.${nodeMetrics}.essentialOnly)`,
  },
  filled(`${kubeState}.address`),
  switchedOff(`${kubeState}.install`),
  emptied('logFileCollector.stateDirectory'),
  ...['prometheusNodeExporter', kubeState].map((part) => filled(`${part}.image.digest`)),
];

export const switches: readonly Switch[] = [
  { path: 'updater.mode', off: 'upgrade', on: 'off', condition: isUpdaterOff },
  { path: 'updater.repository', off: undefined, on: '', condition: isSuspended },
  { path: 'updater.mode', off: 'upgrade', on: 'check', condition: `eq ${updaterMode} "check"` },
  emptied('updater.verify.keyringSecret'),
  filled('updater.image.digest'),
  ...ofNodes,
  switchedOff('networkPolicy.enabled'),
  switchedOff('injection.podMode'),
  ...['webhook', 'otlp', 'metrics'].map((by) => filled(`networkPolicy.${by}.from`, [])),
  ...['serviceMonitor', 'prometheusRule', 'silentWorkloadsRule', 'dashboard'].map((kind) =>
    switchedOff(`metrics.${kind}.enabled`),
  ),
  { path: 'metrics.secure', off: false, on: true, condition: '$.Values.metrics.secure' },
  { path: 'guard', off: 'Deny', on: 'None', condition: 'eq $.Values.guard "None"' },
  { path: 'guard', off: 'Deny', on: 'Audit', condition: 'eq $.Values.guard "Audit"' },
  { path: 'debug.enabled', off: false, on: true, condition: '$.Values.debug.enabled' },
  { path: 'platform', off: 'auto', on: 'kubernetes', condition: 'eq $.Values.platform "kubernetes"' },
  {
    path: 'platform',
    off: 'auto',
    on: 'openshift',
    condition:
      'or (eq $.Values.platform "openshift") (and (eq $.Values.platform "auto") ($.Capabilities.APIVersions.Has "security.openshift.io/v1"))',
  },
  // The first issuer has most objects, so it is in the base rendering.
  ...['delivery', 'operator', 'external'].map((issuer) => ({
    path: 'certificates.issuer',
    off: 'cert-manager',
    on: issuer,
    condition: `eq $.Values.certificates.issuer "${issuer}"`,
  })),
  filled('certificates.issuerRef', {}),
  filled('imagePullSecrets', []),
  ...['global', ...podsOfInstallation].flatMap((pod) => [
    filled(`nodeSelector.${pod}`, {}),
    filled(`tolerations.${pod}`, []),
  ]),
  filled('affinity', {}),
  filled('lumigoToken.value'),
  {
    path: 'priorityClass.create',
    off: true,
    on: false,
    condition: 'not (or $.Values.priorityClass.create $.Values.priorityClassName)',
  },
  filled('monitoredNamespaces', []),
  filled('telemetry.namespaceLabels', []),
  ...['priorityClassName', 'logFileCollector.priorityClassName'].map((path) => filled(path)),
  { path: 'hostNetwork', off: false, on: true, condition: '$.Values.hostNetwork' },
  filled('controllerManager.telemetryProxy.queue.claimName'),
  ...['manager', 'telemetryProxy'].map((each) => filled(`controllerManager.${each}.image.digest`)),
  filled('injectorWebhook.lumigoInjector.image.digest'),
];

/** Helm creates the namespace (`--create-namespace`), so it is not part of the chart. */
export const settled: Readonly<Record<string, unknown>> = { createNamespace: false };

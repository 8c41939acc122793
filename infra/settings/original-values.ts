import { isPlainObject } from '../../runtime/json/values.ts';

/**
 * A value of the original operator's chart (v69), or all values below it.
 * `acts`: it has its former effect, under its own name or as the setting `as`. `warned`: it has no effect, and a warning says what to do.
 * `refused`: it cannot work if it matches `when`.
 */
export type OriginalValue = { readonly path: string } & (
  | { readonly acts: true; readonly as: string | undefined; readonly note: string | undefined }
  | { readonly warned: string }
  | { readonly refused: string; readonly when: string }
);

const onePod = "the telemetry proxy runs in the operator's pods. Set controllerManager";
const noSuchPart = 'this operator has no such component. Remove it';

const acts = (path: string, as?: string, note?: string): OriginalValue => ({ path, acts: true, as, note });
const warned = (path: string, advice: string): OriginalValue => ({ path, warned: advice });

/** The original's last release is 69. A longer number is a user's own tag, such as a build number or a date. */
const ofTheOriginal = '^v?[0-9]{1,3}$';

const refused = (path: string, refused: string, when = ofTheOriginal): OriginalValue => ({ path, refused, when });

/** Components of the original with a `tolerations` or `nodeSelector` setting that this operator does not have. */
const placed = ['watchdog', 'telemetryProxy', 'targetAllocator', 'installHook'];

const perPart = (section: string): OriginalValue[] => [
  ...['global', 'controllerManager', 'uninstallHook', 'clusterAgent'].map((part) => acts(`${section}.${part}`)),
  ...placed.map((part) => warned(`${section}.${part}`, noSuchPart)),
];

export const originalValues: readonly OriginalValue[] = [
  acts('debug.enabled'),
  warned('output', 'the notes have no colours. Remove it'),
  acts('cluster.name'),
  ...perPart('tolerations'),
  ...perPart('nodeSelector'),
  warned('watchdog', 'the operator has its own metrics and alerts. Set metrics.prometheusRule.enabled'),
  warned('telemetryProxy', `${onePod}.replicas and controllerManager.telemetryProxy. Logs are always batched by token`),
  warned('controllerManager.kubeRbacProxy', 'the manager serves its metrics itself. Set metrics.secure'),
  refused(
    'controllerManager.manager.image.tag',
    'a release of the original operator, whose image is not compatible. Remove it, or set a tag of this operator',
  ),
  acts('controllerManager.manager.image.repository', undefined, "it must contain a copy of this operator's image"),
  acts('controllerManager.manager.resources'),
  warned('controllerManager.telemetryProxy.replicas', `${onePod}.replicas`),
  refused(
    'controllerManager.telemetryProxy.image.tag',
    'a release of the original telemetry proxy, whose image is not compatible. Remove it, or set a tag of the OpenTelemetry Collector',
  ),
  refused(
    'controllerManager.telemetryProxy.image.repository',
    'the original telemetry proxy, which is not compatible. Remove it, or set an image of the OpenTelemetry Collector',
    'lumigo-kubernetes-telemetry-proxy$',
  ),
  acts('controllerManager.telemetryProxy.resources'),
  warned('controllerManager.namespaceFileServer', noSuchPart),
  warned('controllerManager.initContainer', noSuchPart),
  warned(
    'logFileCollector.image',
    'the collector on a node runs the image of the telemetry proxy. Set controllerManager.telemetryProxy.image',
  ),
  acts('logFileCollector.resources', undefined, 'they are those of the collector on each node, for logs and metrics'),
  acts('kubeStateMetrics'),
  acts('prometheusNodeExporter.image'),
  acts('prometheusNodeExporter.resources'),
  warned('prometheusNodeExporter.service', 'only the collector in the same pod reads node_exporter. Remove it'),
  acts('injectorWebhook.lumigoInjector.image'),
  warned('injectorWebhookService', 'only the API server uses the Service. Set ports.webhook for the port of the pods'),
  acts('kubernetesClusterDomain'),
  warned('metricsService', 'metrics have their own Service. Set ports.metrics for the port of the pods'),
  acts('endpoint.otlp.url'),
  acts('endpoint.otlp.logs_url'),
  acts('endpoint.otlp.metrics_url'),
  acts('lumigoToken'),
  acts('monitoredNamespaces'),
  acts('clusterCollection', undefined, 'both parts are off unless a value switches them on'),
  warned('targetAllocator', 'the collector on each node scrapes that node. Remove it'),
  warned('kube-state-metrics', 'the operator has no subchart. Set kubeStateMetrics'),
  acts('fullnameOverride', 'name'),
];

export const at = (given: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isPlainObject(value) ? value[key] : undefined), given);

/** Returns true unless a value is empty. Empty values cause no warning. */
const isGiven = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(isPlainObject(value) && Object.keys(value).length === 0);

export const getWarnings = (given: unknown): readonly string[] =>
  originalValues.flatMap((row) =>
    'warned' in row && isGiven(at(given, row.path)) ? [`${row.path}: ${row.warned}`] : [],
  );

export const getRefusals = (given: unknown): readonly string[] =>
  originalValues.flatMap((row) => {
    if (!('refused' in row)) return [];
    // A tag that is written without quotes is a number.
    const value = String(at(given, row.path));
    return new RegExp(row.when).test(value) ? [`${row.path} is "${value}", ${row.refused}`] : [];
  });

/** Returns the values under this operator's names, without those that have no effect. */
export function withoutOriginal(given: unknown): unknown {
  return originalValues.reduce<unknown>((rest, row) => {
    if ('warned' in row) return without(rest, row.path.split('.'));
    if (!('acts' in row) || row.as === undefined || !isPlainObject(rest)) return rest;
    const value = isGiven(rest[row.as]) ? rest[row.as] : at(rest, row.path);
    return without(isGiven(value) ? { ...rest, [row.as]: value } : rest, row.path.split('.'));
  }, given);
}

function without(tree: unknown, [key = '', ...more]: readonly string[]): unknown {
  if (!isPlainObject(tree) || !Object.hasOwn(tree, key)) return tree;
  const { [key]: child, ...rest } = tree;
  return more.length === 0 ? rest : { ...rest, [key]: without(child, more) };
}

import { isPlainObject } from '../../runtime/json/values.ts';

/**
 * A value of the original operator's chart (v69), or all values below it.
 * `acts`: it has its former effect, under its own name or as the setting `as`. `warned`: it has no effect, and a warning says what to do.
 * `refused`: it cannot work if it matches `when`.
 */
export type OriginalValue = { readonly path: string } & (
  | { readonly acts: true; readonly as?: string; readonly note?: string }
  | { readonly warned: string }
  | { readonly refused: string; readonly when: string }
);

const onePod = "the telemetry proxy runs in the operator's pods. Set controllerManager";
const noSuchPart = 'this operator has no such component. Remove it';

const acts = (path: string, as?: string, note?: string): OriginalValue => ({
  ...{ path, acts: true },
  ...(as === undefined ? {} : { as }),
  ...(note === undefined ? {} : { note }),
});
const warned = (path: string, advice: string): OriginalValue => ({ path, warned: advice });

/** Tags of the original operator are whole numbers. Tags of this operator are not. */
const ofTheOriginal = '^v?[0-9]+$';

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
  {
    path: 'controllerManager.manager.image.tag',
    refused:
      'a release of the original operator, whose image is not compatible. Remove it, or set a tag of this operator',
    when: ofTheOriginal,
  },
  acts('controllerManager.manager.image.repository', undefined, "it must contain a copy of this operator's image"),
  acts('controllerManager.manager.resources'),
  warned('controllerManager.telemetryProxy.replicas', `${onePod}.replicas`),
  {
    path: 'controllerManager.telemetryProxy.image.tag',
    refused:
      'a release of the original telemetry proxy, whose image is not compatible. Remove it, or set a tag of the OpenTelemetry Collector',
    when: ofTheOriginal,
  },
  {
    path: 'controllerManager.telemetryProxy.image.repository',
    refused:
      'the original telemetry proxy, which is not compatible. Remove it, or set an image of the OpenTelemetry Collector',
    when: 'lumigo-kubernetes-telemetry-proxy$',
  },
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
    const value = 'refused' in row ? at(given, row.path) : undefined;
    return 'refused' in row && isText(value) && new RegExp(row.when).test(String(value))
      ? [`${row.path} is "${String(value)}", ${row.refused}`]
      : [];
  });

/** A tag that is written without quotes is a number. */
const isText = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** Returns the values under this operator's names, without those that have no effect. */
export function withoutOriginal(given: unknown): unknown {
  return originalValues.reduce<unknown>((rest, row) => {
    if ('warned' in row) return without(rest, row.path.split('.'));
    const as = 'as' in row ? row.as : undefined;
    const value = as === undefined ? undefined : at(rest, row.path);
    const renamed = isGiven(value) && isPlainObject(rest) ? { ...rest, [as ?? '']: value } : rest;
    return as === undefined ? rest : without(renamed, row.path.split('.'));
  }, given);
}

function without(tree: unknown, [key = '', ...more]: readonly string[]): unknown {
  if (!isPlainObject(tree) || !Object.hasOwn(tree, key)) return tree;
  const { [key]: child, ...rest } = tree;
  return more.length === 0 ? rest : { ...rest, [key]: without(child, more) };
}

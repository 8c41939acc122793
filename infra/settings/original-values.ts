import { isMap } from '../../runtime/injection/lists.ts';

/**
 * What becomes of the values that the original operator's chart (v69) has, a row for each or for all below it. From here come what
 * the chart's schema lets in, its warning and its refusals, the same of settings files, and the table of docs/migrate-from-original.md.
 *
 * `acts`: it does what it did, under its own name or, where there is one, by the setting `as`. `warned`: it is let in, does
 * nothing, and is named with what to do. `refused`: what it says cannot be; a value that `when` does not find is as good as any.
 */
export type OriginalValue = { readonly path: string } & (
  | { readonly acts: true; readonly as?: string; readonly note?: string }
  | { readonly warned: string }
  | { readonly refused: string; readonly when: string }
);

const noMetrics = 'infrastructure metrics are not collected; remove it, and use another collector for them';
const onePod = "the telemetry proxy runs in the operator's pods; set controllerManager";
const noSuchPart = 'this operator has no such part; remove it';

const acts = (path: string, as?: string, note?: string): OriginalValue => ({
  ...{ path, acts: true },
  ...(as === undefined ? {} : { as }),
  ...(note === undefined ? {} : { note }),
});
const warned = (path: string, advice: string): OriginalValue => ({ path, warned: advice });

/** Its releases are whole numbers, those of this operator are not. */
const ofTheOriginal = '^v?[0-9]+$';

/** Parts of the original that a place in the cluster can be given to, and that are not here. */
const placed = ['watchdog', 'clusterAgent', 'telemetryProxy', 'targetAllocator', 'installHook'];

const perPart = (section: string): OriginalValue[] => [
  ...['global', 'controllerManager', 'uninstallHook'].map((part) => acts(`${section}.${part}`)),
  ...placed.map((part) => warned(`${section}.${part}`, noSuchPart)),
];

export const originalValues: readonly OriginalValue[] = [
  acts('debug.enabled'),
  warned('output', 'the notes have no colours; remove it'),
  acts('cluster.name'),
  ...perPart('tolerations'),
  ...perPart('nodeSelector'),
  warned('watchdog', 'the operator has its own metrics and alerts; set metrics.prometheusRule.enabled'),
  warned('telemetryProxy', `${onePod}.replicas and controllerManager.telemetryProxy; logs are always batched by token`),
  warned('controllerManager.kubeRbacProxy', 'the manager serves its metrics itself; set metrics.secure'),
  {
    path: 'controllerManager.manager.image.tag',
    refused:
      'a release of the original operator, whose image does not run here; remove it, or name an image of this operator',
    when: ofTheOriginal,
  },
  acts('controllerManager.manager.image.repository', undefined, "it must have a copy of this operator's image"),
  acts('controllerManager.manager.resources'),
  warned('controllerManager.telemetryProxy.replicas', `${onePod}.replicas`),
  {
    path: 'controllerManager.telemetryProxy.image.tag',
    refused:
      'a release of the original telemetry proxy, whose image does not run here; remove it, or name an OpenTelemetry Collector',
    when: ofTheOriginal,
  },
  {
    path: 'controllerManager.telemetryProxy.image.repository',
    refused: 'the original telemetry proxy, which does not run here; remove it, or name an OpenTelemetry Collector',
    when: 'lumigo-kubernetes-telemetry-proxy$',
  },
  acts('controllerManager.telemetryProxy.resources'),
  warned('controllerManager.namespaceFileServer', noSuchPart),
  warned('controllerManager.initContainer', noSuchPart),
  warned('logFileCollector', 'log files are not collected; let the programs send logs (logging.enabled of a Lumigo)'),
  warned('kubeStateMetrics', noMetrics),
  warned('prometheusNodeExporter', noMetrics),
  acts('injectorWebhook.lumigoInjector.image'),
  warned('injectorWebhookService', 'only the API server uses the Service; set ports.webhook for the port of the pods'),
  acts('kubernetesClusterDomain'),
  warned('metricsService', 'metrics have their own Service; set ports.metrics for the port of the pods'),
  acts('endpoint.otlp.url'),
  acts('endpoint.otlp.logs_url'),
  warned('endpoint.otlp.metrics_url', noMetrics),
  acts('lumigoToken'),
  acts('monitoredNamespaces'),
  warned('clusterCollection', noMetrics),
  warned('targetAllocator', noMetrics),
  warned('kube-state-metrics', noMetrics),
  acts('fullnameOverride', 'name'),
];

const at = (given: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((value, key) => (isMap(value) ? value[key] : undefined), given);

/** What says nothing is not worth a word. */
const isSaid = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== '' && !(isMap(value) && Object.keys(value).length === 0);

/** A line for each value of the original's that does nothing here. */
export const warningsOf = (given: unknown): readonly string[] =>
  originalValues.flatMap((row) =>
    'warned' in row && isSaid(at(given, row.path)) ? [`${row.path}: ${row.warned}`] : [],
  );

/** A line for each value that says what cannot be. */
export const refusalsOf = (given: unknown): readonly string[] =>
  originalValues.flatMap((row) => {
    const value = 'refused' in row ? at(given, row.path) : undefined;
    return 'refused' in row && isText(value) && new RegExp(row.when).test(String(value))
      ? [`${row.path} is "${String(value)}", ${row.refused}`]
      : [];
  });

/** A tag that is written without quotes is a number. */
const isText = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

/** What was given, as this operator names it: without what does nothing. */
export function withoutOriginal(given: unknown): unknown {
  return originalValues.reduce<unknown>((rest, row) => {
    if ('warned' in row) return without(rest, row.path.split('.'));
    const as = 'as' in row ? row.as : undefined;
    const value = as === undefined ? undefined : at(rest, row.path);
    const renamed = isSaid(value) && isMap(rest) ? { ...rest, [as ?? '']: value } : rest;
    return as === undefined ? rest : without(renamed, row.path.split('.'));
  }, given);
}

function without(tree: unknown, [key = '', ...more]: readonly string[]): unknown {
  if (!isMap(tree) || !Object.hasOwn(tree, key)) return tree;
  const { [key]: child, ...rest } = tree;
  return more.length === 0 ? rest : { ...rest, [key]: without(child, more) };
}

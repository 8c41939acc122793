import { describe, expect, it } from '@jest/globals';
import { parser } from '@prometheus-io/lezer-promql';
import { createMetrics } from '../../runtime/observability/metrics.ts';
import { synthesize } from '../operator.ts';
import type { Manifest } from './manifest.ts';
import { parseSettings } from '../settings/settings.ts';
import { alerts } from './alerts.ts';
import { panels } from './dashboard.ts';

/** Grafana replaces the variable before it sends the query. */
const asked = (expr: string): string => expr.replaceAll('$__rate_interval', '5m');

const queries = [
  ...alerts.map(({ name, expr }) => [name, expr] as const),
  ...panels.flatMap(({ title, exprs }) => exprs.map((expr) => [title, asked(expr)] as const)),
];

function errorsIn(expr: string): string[] {
  const errors: string[] = [];
  parser.parse(expr).iterate({
    enter: ({ type, from }) => void (type.isError && errors.push(`${expr.slice(0, from)} ⚠ ${expr.slice(from)}`)),
  });
  return errors;
}

const known = createMetrics()
  .registry.getMetricsAsArray()
  .map(({ name }) => name);

const objectsOf = (settings: object, kind: string): readonly Manifest[] =>
  synthesize(parseSettings(settings)).filter((each) => each.kind === kind);

describe('alerts and dashboard', () => {
  it.each(queries)('%s is PromQL, about metrics that exist', (_title, expr) => {
    expect(errorsIn(expr)).toEqual([]);
    const asks = [...expr.matchAll(/lumigo_operator_\w+/g)].map(([name]) => name.replace(/_bucket$/, ''));
    expect(asks.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('fail this check if they are not PromQL', () => {
    expect(errorsIn('sum by (x (y)')).not.toEqual([]);
  });

  it('are rendered only if the settings ask for them', () => {
    for (const kind of ['ServiceMonitor', 'PrometheusRule']) expect(objectsOf({}, kind)).toEqual([]);
    const [monitor] = objectsOf(
      { metrics: { serviceMonitor: { enabled: true, labels: { release: 'p' } } } },
      'ServiceMonitor',
    );
    expect(monitor?.metadata.labels).toMatchObject({ release: 'p', 'app.kubernetes.io/component': 'metrics' });
    const [service] = objectsOf({}, 'Service').filter(({ metadata }) => metadata.name.endsWith('metrics-service'));
    const { selector } = monitor?.['spec'] as { selector: { matchLabels: object } };
    expect(service?.metadata.labels).toMatchObject(selector.matchLabels);
  });
});

import { createMetrics } from '../../runtime/observability/metrics.ts';
import { markdownTable } from '../settings/markdown-table.ts';
import { code, referencePage } from './page.ts';

interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly labelNames?: readonly string[];
}

const PREFIX = 'lumigo_operator_';

export function metricsReference(): string {
  const all = createMetrics().registry.getMetricsAsArray() as unknown as readonly Metric[];
  const rows = all
    .filter(({ name }) => name.startsWith(PREFIX))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, type, labelNames = [], help }) => [code(name), type, labelNames.map(code).join(', '), `${help}.`]);
  return referencePage(
    'Metrics',
    'runtime/observability/metrics.ts',
    '[Monitoring](../operate/monitoring.md#collect-metrics) says how to collect them. Each series also has the labels of its target, such as `pod`.',
    markdownTable(['Metric', 'Type', 'Labels', 'Meaning'], rows),
    'The manager also has the metrics of its process and of Node.js, which begin with `process_` and `nodejs_`. The telemetry proxy has those of the OpenTelemetry Collector, which begin with `otelcol_`.',
  );
}

import type { Signal } from '../contract.ts';
import { WORKLOAD } from './render-claims.ts';
import type { Rendered } from './render-tenants.ts';
import type { ProxySettings } from './types.ts';

/** Counts the traces and logs that a shard forwards. It reads the data that the exporter beside it also reads, without a copy. */
const counter = 'count/received';
export const getCounters = (signal: Signal): string[] => (signal === 'metrics' ? [] : [counter]);
const exporter = 'prometheus/received';
const onlyWorkload = 'transform/received';

const METRIC = 'lumigo.received';

/** There is a series for each workload that sent lately. A pod's editor chooses the names of owners, so readers bound the page. */
export function renderCounts({ telemetryCountsPort }: ProxySettings): Rendered {
  const each = { [METRIC]: { description: 'Data received from a workload' } };
  const keepWorkload = { context: 'resource', statements: [`keep_keys(attributes, ["${WORKLOAD}"])`] };
  return {
    connectors: { [counter]: { spans: each, spanevents: each, logs: each } },
    processors: { [onlyWorkload]: { error_mode: 'ignore', metric_statements: [keepWorkload] } },
    exporters: {
      [exporter]: {
        endpoint: `127.0.0.1:${telemetryCountsPort}`,
        metric_expiration: '1m',
        resource_to_telemetry_conversion: { enabled: true },
      },
    },
    pipelines: { 'metrics/received': { receivers: [counter], processors: [onlyWorkload], exporters: [exporter] } },
  };
}

const SERIES = new RegExp(
  `^${METRIC.replaceAll('.', '_')}\\w*\\{(?:.*,)?${WORKLOAD.replaceAll('.', '_')}="([^"]+)"`,
  'gm',
);

/** Returns the workloads in the metrics of `renderCounts`. */
export const parseCounts = (metrics: string): string[] => [
  ...new Set([...metrics.matchAll(SERIES)].map(([, workload = '']) => workload)),
];

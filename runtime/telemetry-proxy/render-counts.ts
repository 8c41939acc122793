import type { Signal } from '../contract.ts';
import type { CollectorConfiguration, ProxySettings } from './types.ts';

type Rendered = Pick<CollectorConfiguration, 'processors' | 'connectors' | 'exporters'> &
  Pick<CollectorConfiguration['service'], 'pipelines'>;

/** Counts the traces and logs that a shard forwards. It reads the data that the exporter beside it also reads, without a copy. */
const counter = 'count/received';
export const getCounters = (signal: Signal): string[] => (signal === 'metrics' ? [] : [counter]);
const exporter = 'prometheus/received';
const onlyWorkload = 'transform/received';

/** The workload that sent the data, as the telemetry proxy itself found it: `NAMESPACE/KIND/NAME`. */
const WORKLOAD = 'lumigo.k8s_operator.workload';
const METRIC = 'lumigo.received';

/** The owners of a pod by the names of their attributes. A later one replaces an earlier one. */
const owners = ['ReplicaSet', 'Job', 'DaemonSet', 'StatefulSet', 'Deployment', 'CronJob'] as const;
const nameKey = (owner: string): string => `k8s.${owner.toLowerCase()}.name`;
const NAMESPACE = 'k8s.namespace.name';
const proving = [NAMESPACE, ...owners.map(nameKey)];

const at = (key: string): string => `attributes["${key}"]`;
const claimed = (key: string): string => `lumigo.claimed.${key}`;
/** A hostile sender may repeat an attribute, and `delete_key` would remove only the first. */
const remove = (key: string): string => `delete_matching_keys(attributes, "^${key.replaceAll('.', '[.]')}$")`;
const move = (from: string, to: string): string[] => [
  `set(${at(to)}, ${at(from)}) where ${at(from)} != nil`,
  remove(from),
];

/** The proxy adds no attribute that a sender sets itself. So the claims are set aside before, and restored afterwards. */
export const setClaimsAside: readonly string[] = [
  ...[WORKLOAD, ...proving.map(claimed)].map(remove),
  ...proving.flatMap((key) => move(key, claimed(key))),
];

export const restoreClaims: readonly string[] = [
  ...owners.map(
    (owner) =>
      `set(${at(WORKLOAD)}, Concat([${at(NAMESPACE)}, "${owner}", ${at(nameKey(owner))}], "/")) where ${at(nameKey(owner))} != nil`,
  ),
  ...proving.flatMap((key) => move(claimed(key), key)),
];

/** A sender cannot choose the names, so their number is that of the workloads that sent lately. */
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

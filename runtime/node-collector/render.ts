import type { NodeCollectorConfig } from '../config/config.ts';
import { mounts, nodeCollectorFiles, ports } from '../contract.ts';
import { parseQuantity } from '../injection/quantity.ts';
import { logReceiver, logScope } from './render-logs.ts';
import { nodeScrapes, scrapeFilter, type NodeIdentity } from './render-scrapes.ts';

/** Returns the configuration of the collector on a node. It has no token: the telemetry proxy adds those (adr/0046). */
export function renderNodeCollector(config: NodeCollectorConfig, node: NodeIdentity): object {
  const extensions = {
    health_check: { endpoint: `:${ports.telemetryHealth}` },
    file_storage: {
      ...{ directory: mounts.nodeCollectorState, timeout: '10s' },
      compaction: { directory: mounts.nodeCollectorState, on_rebound: true },
    },
    bearertokenauth: { filename: `${mounts.nodeCollectorKey}/${nodeCollectorFiles.key}` },
  };
  const { receivers, processors, pipelines } = merged([
    ...(config.logs ? [logs(config)] : []),
    ...(config.metrics ? [metrics(config, node)] : []),
  ]);
  return {
    extensions,
    receivers,
    processors: {
      memory_limiter: { check_interval: '500ms', limit_percentage: 80, spike_limit_percentage: 20 },
      ...processors,
    },
    exporters: { otlphttp: exporter(config) },
    service: { extensions: Object.keys(extensions), telemetry: telemetry(config), pipelines },
  };
}

interface Part {
  readonly receivers: Readonly<Record<string, object>>;
  readonly processors: Readonly<Record<string, object>>;
  readonly pipelines: Readonly<Record<string, object>>;
}

const merged = (parts: readonly Part[]): Part => ({
  receivers: Object.assign({}, ...parts.map(({ receivers }) => receivers)) as Part['receivers'],
  processors: Object.assign({}, ...parts.map(({ processors }) => processors)) as Part['processors'],
  pipelines: Object.assign({}, ...parts.map(({ pipelines }) => pipelines)) as Part['pipelines'],
});

const pipeline = (receiver: string, processor: string) => ({
  receivers: [receiver],
  processors: ['memory_limiter', processor],
  exporters: ['otlphttp'],
});

const logs = (config: NodeCollectorConfig): Part => ({
  receivers: { filelog: logReceiver(config) },
  processors: { 'transform/scope': logScope },
  pipelines: { logs: pipeline('filelog', 'transform/scope') },
});

const metrics = (config: NodeCollectorConfig, node: NodeIdentity): Part => ({
  receivers: { prometheus: { config: { scrape_configs: nodeScrapes(config, node) } } },
  processors: { 'filter/scrape': scrapeFilter },
  pipelines: { metrics: pipeline('prometheus', 'filter/scrape') },
});

/** If the queue is full, the receivers wait: log files keep what is not read, and the kubelet bounds their size. */
const exporter = ({ proxyUrl, queueSize }: NodeCollectorConfig) => ({
  endpoint: proxyUrl,
  auth: { authenticator: 'bearertokenauth' },
  timeout: '10s',
  retry_on_failure: { initial_interval: '500ms', max_interval: '15s', max_elapsed_time: '0s' },
  sending_queue: {
    storage: 'file_storage',
    sizer: 'bytes',
    queue_size: Math.floor(parseQuantity(queueSize) ?? 0),
    num_consumers: 2,
    block_on_overflow: true,
    batch: { sizer: 'bytes', flush_timeout: '1s', min_size: 262_144, max_size: 2_097_152 },
  },
});

const telemetry = ({ logLevel, metricsSecure }: NodeCollectorConfig) => ({
  logs: { level: logLevel === 'debug' ? 'debug' : 'info', encoding: 'json' },
  metrics: {
    level: 'normal',
    readers: [
      {
        pull: {
          exporter: {
            prometheus: {
              ...{ host: metricsSecure ? '127.0.0.1' : '', port: ports.telemetryMetrics },
              ...{ without_scope_info: true, without_type_suffix: true, without_units: true },
            },
          },
        },
      },
    ],
  },
});

/** JSON is YAML with quoted names. `$` would begin a variable. */
export const serializeNodeCollector = (configuration: object): string =>
  `${JSON.stringify(configuration, undefined, 1).replaceAll('$', '$$$$')}\n`;

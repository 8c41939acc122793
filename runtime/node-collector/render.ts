import type { NodeCollectorConfig } from '../config/config.ts';
import { mounts, nodeCollectorFiles, ports } from '../contract.ts';
import { parseQuantity } from '../injection/quantity.ts';
import { memoryLimiter, toTelemetry } from './common-parts.ts';
import { logReceiver, logScope } from './render-logs.ts';
import { nodeScrapes, scrapeFilter, type NodeIdentity } from './render-scrapes.ts';

/** Returns the configuration of the collector on a node. It has no token: the telemetry proxy adds those (adr/0046). */
export function renderNodeCollector(config: NodeCollectorConfig, node: NodeIdentity): object {
  const { logs, metrics, logLevel, metricsSecure } = config;
  const extensions = {
    health_check: { endpoint: `:${ports.telemetryHealth}` },
    file_storage: {
      // A node that loses power can damage a file.
      directory: mounts.nodeCollectorState,
      timeout: '10s',
      recreate: true,
      compaction: { directory: mounts.nodeCollectorState, on_rebound: true, cleanup_on_start: true },
    },
    bearertokenauth: { filename: `${mounts.nodeCollectorKey}/${nodeCollectorFiles.key}` },
  };
  return {
    extensions,
    receivers: {
      ...(logs ? { filelog: logReceiver(config) } : {}),
      ...(metrics ? { prometheus: { config: { scrape_configs: nodeScrapes(config, node) } } } : {}),
    },
    processors: { memory_limiter: memoryLimiter, 'transform/scope': logScope, 'filter/scrape': scrapeFilter },
    exporters: { otlphttp: exporter(config) },
    service: {
      extensions: Object.keys(extensions),
      telemetry: toTelemetry(logLevel, metricsSecure ? '127.0.0.1' : '', ports.telemetryMetrics),
      pipelines: {
        ...(logs ? { logs: pipeline('filelog', 'transform/scope') } : {}),
        ...(metrics ? { metrics: pipeline('prometheus', 'filter/scrape') } : {}),
      },
    },
  };
}

const pipeline = (receiver: string, processor: string) => ({
  receivers: [receiver],
  processors: ['memory_limiter', processor],
  exporters: ['otlphttp'],
});

/** Bytes. A record that exceeds it is dropped with all after it, and a line of 1 MiB has up to 3 MiB if it is no UTF-8. The node port accepts 20 MiB. */
const MAX_BATCH = 8_388_608;

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
    batch: { sizer: 'bytes', flush_timeout: '1s', min_size: 262_144, max_size: MAX_BATCH },
  },
});

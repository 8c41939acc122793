import { otlpPaths, signals, type Signal } from '../contract.ts';
import { parseQuantity } from '../injection/quantity.ts';
import { SEVERAL, TOKEN_HASH } from './render-claims.ts';
import { getCounters } from './render-counts.ts';
import type { Rendered } from './render-tenants.ts';
import type { ProxySettings } from './types.ts';

/** The first digit of a token's hash names its shard. */
const shards = [...'0123456789abcdef'];

/** After this processor, only `batch` may join requests, because it keeps tokens apart. */
export const intoShard = 'resource/into-shard';

/** All in one processor, because every other one writes what it sees into its log at debug level. */
export const hashToken = {
  attributes: [
    { key: TOKEN_HASH, action: 'upsert', from_context: 'metadata.authorization' },
    { key: TOKEN_HASH, action: 'extract', pattern: `(?P<${SEVERAL}>;)` },
    { key: TOKEN_HASH, action: 'hash' },
  ],
};
/** Its exporter would repeat such a request for ever. */
const hasSeveral = `resource.attributes["${SEVERAL}"] != nil`;
export const oneToken = {
  error_mode: 'propagate',
  traces: { span: [hasSeveral] },
  metrics: { metric: [hasSeveral] },
  logs: { log_record: [hasSeveral] },
};
const outOfShard = 'resource/out-of-shard';

export const getShardRouter = (signal: Signal): string => `routing/${signal}-shards`;

/** A throttled token blocks its queue, so a token's hash selects one of 16 shards (docs/contributing/adr/0025). */
export function renderShards(settings: ProxySettings): Rendered {
  const toName = (shard: string): string => (shard === '0' ? 'otlphttp/lumigo' : `otlphttp/lumigo/${shard}`);
  const toPipeline = (signal: Signal, shard: string) => ({
    receivers: [getShardRouter(signal)],
    processors: [outOfShard],
    exporters: [toName(shard), ...getCounters(signal)],
  });
  return {
    processors: { [outOfShard]: { attributes: [{ key: TOKEN_HASH, action: 'delete' }] } },
    connectors: Object.fromEntries(signals.map((signal) => [getShardRouter(signal), toSwitch(signal)])),
    exporters: Object.fromEntries(shards.map((shard) => [toName(shard), exporter(settings)])),
    pipelines: Object.fromEntries(
      shards.flatMap((shard) =>
        signals.map((signal) => [`${signal}/shard/${shard}`, toPipeline(signal, shard)] as const),
      ),
    ),
  };
}

const toSwitch = (signal: Signal) => ({
  table: shards.map((shard) => ({
    context: 'resource',
    condition: `Substring(attributes["${TOKEN_HASH}"], 0, 1) == "${shard}"`,
    pipelines: [`${signal}/shard/${shard}`],
  })),
});

/** The queue is on disk. If it is full, data is dropped: waiting would fill the memory, and block other shards. */
const exporter = ({ endpoint, logsEndpoint, metricsEndpoint, telemetryProxyQueueShardSize: size }: ProxySettings) => ({
  endpoint,
  ...(logsEndpoint === '' ? {} : { logs_endpoint: logsEndpoint + otlpPaths.logs }),
  ...(metricsEndpoint === '' ? {} : { metrics_endpoint: metricsEndpoint + otlpPaths.metrics }),
  auth: { authenticator: 'headers_setter' },
  timeout: '10s',
  retry_on_failure: { initial_interval: '500ms', max_interval: '15s', max_elapsed_time: '0s' },
  sending_queue: {
    storage: 'file_storage',
    sizer: 'bytes',
    queue_size: Math.floor(parseQuantity(size) ?? 0),
    num_consumers: 4,
  },
});

import { otlpPaths } from '../contract.ts';
import { parseQuantity } from '../injection/quantity.ts';
import type { CollectorConfiguration, Components, ProxySettings } from './types.ts';

type Rendered = Pick<CollectorConfiguration, 'processors' | 'connectors' | 'exporters'> &
  Pick<CollectorConfiguration['service'], 'pipelines'>;

/** The first digit of a token's hash names its lane. */
const lanes = '0123456789abcdef';

/** A batch has this attribute only between the two processors. */
const attribute = 'lumigo.lane';

/** This processor must be the last one before the lanes, except `batch`, which keeps tokens apart. */
export const intoLanes = 'resource/into-lanes';
const outOfLanes = 'resource/out-of-lanes';

export const lanesOf = (signal: 'traces' | 'logs'): string => `routing/${signal}-lanes`;

/** A throttled token blocks its queue, so a token's hash selects one of 16 lanes (docs/contributing/adr/0027). */
export function renderLanes(settings: ProxySettings): Rendered {
  const lane = (index: number): string => `otlphttp/lumigo${index === 0 ? '' : `/${lanes[index]}`}`;
  const indices = [...lanes].map((_, index) => index);
  const each = <T>(entry: (index: number) => readonly (readonly [string, T])[]) =>
    Object.fromEntries(indices.flatMap(entry));
  const signals = ['traces', 'logs'] as const;
  return {
    processors: {
      [intoLanes]: {
        attributes: [
          { key: attribute, action: 'upsert', from_context: 'metadata.authorization' },
          { key: attribute, action: 'hash' },
        ],
      },
      [outOfLanes]: { attributes: [{ key: attribute, action: 'delete' }] },
    },
    connectors: Object.fromEntries(signals.map((signal) => [lanesOf(signal), switchOf(signal)])),
    exporters: each((index) => [[lane(index), exporter(settings)]]),
    pipelines: each((index) =>
      signals.map((signal) => [
        `${signal}/lane/${lanes[index]}`,
        { receivers: [lanesOf(signal)], processors: [outOfLanes], exporters: [lane(index)] },
      ]),
    ),
  };
}

const switchOf = (signal: 'traces' | 'logs') => ({
  table: [...lanes].map((digit) => ({
    context: 'resource',
    condition: `Substring(attributes["${attribute}"], 0, 1) == "${digit}"`,
    pipelines: [`${signal}/lane/${digit}`],
  })),
});

/** The queue is on disk. If it is full, data is dropped: waiting would fill the memory, and block other lanes. */
const exporter = ({ endpoint, logsEndpoint, telemetryProxyQueueLaneSize }: ProxySettings): Components[string] => ({
  endpoint,
  ...(logsEndpoint === '' ? {} : { logs_endpoint: logsEndpoint + otlpPaths.logs }),
  auth: { authenticator: 'headers_setter' },
  timeout: '10s',
  retry_on_failure: { initial_interval: '500ms', max_interval: '15s', max_elapsed_time: '0s' },
  sending_queue: {
    storage: 'file_storage',
    sizer: 'bytes',
    queue_size: Math.floor(parseQuantity(telemetryProxyQueueLaneSize) ?? 0),
    num_consumers: 4,
  },
});

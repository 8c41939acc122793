import { otlpPaths } from '../contract.ts';
import { parseQuantity } from '../injection/quantity.ts';
import type { CollectorConfiguration, Components, ProxySettings } from './types.ts';

type Rendered = Pick<CollectorConfiguration, 'processors' | 'connectors' | 'exporters'> &
  Pick<CollectorConfiguration['service'], 'pipelines'>;

/** The first digit of what a token hashes to: each names a lane. */
const lanes = '0123456789abcdef';

/** Where a batch bears its lane: from the first of these processors to the second, and never further. */
const attribute = 'lumigo.lane';

/** To be the last processor before the lanes' switch, but for `batch`, which keeps tokens apart. */
export const intoLanes = 'resource/into-lanes';
const outOfLanes = 'resource/out-of-lanes';

/** What takes the batches of a signal, and sends each out in the lane of its token. */
export const lanesOf = (signal: 'traces' | 'logs'): string => `routing/${signal}-lanes`;

/**
 * The ways out to Lumigo. What Lumigo will not take just now is tried again for as long as that lasts, and holds up what stands behind it;
 * so tokens are spread over lanes by their hash, each with a queue and senders of its own. A token that is throttled holds up those of
 * its own lane, one in sixteen, instead of all; a lane for each would be a reload for each token that comes or goes (docs/contributing/adr/0027).
 */
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

/**
 * Sends each batch under the token it came in with. The queue is on disk, tokens included. What comes when it is full is dropped: to
 * hold it up would fill the memory, and shut out the senders of all other lanes.
 */
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

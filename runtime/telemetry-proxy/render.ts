import { signals, tokenScheme, type Signal } from '../contract.ts';
import { at, memoryLimiter, toHost, toTelemetry } from '../node-collector/common-parts.ts';
import { renderAttributes } from './render-attributes.ts';
import { renderCollection } from './render-collection.ts';
import { renderCounts } from './render-counts.ts';
import { getShardRouter, renderShards } from './render-shards.ts';
import { join, type Rendered } from './render-tenants.ts';
import { toFile, type Collection, type CollectorConfiguration, type ProxySettings } from './types.ts';

/** A batch is small, because it is only in memory, and has the data of one token. */
const batch = {
  timeout: '200ms',
  send_batch_size: 512,
  send_batch_max_size: 1024,
  metadata_keys: ['authorization'],
  metadata_cardinality_limit: 10_000,
};

/** Tokens are in another file, so a change needs no reload. Without a `collection`, the API server is not necessary. */
export function render(settings: ProxySettings, collection: Collection | undefined): CollectorConfiguration {
  const collects = collection !== undefined && collection.namespaces.length > 0;
  const { pipelines, ...components } = join(
    renderForwarding(settings, collects && collection.waitsForPods),
    renderShards(settings),
    renderCounts(settings),
    collects ? renderCollection(settings, collection) : {},
  );
  const extensions = Object.keys(components.extensions);
  return { ...components, service: { extensions, telemetry: telemetry(settings), pipelines } };
}

function renderForwarding(settings: ProxySettings, waits: boolean): Rendered {
  // In the order of the pipelines.
  const processors = {
    memory_limiter: memoryLimiter,
    ...renderAttributes(settings, waits),
    'resource/operator': { attributes: operatorAttributes(settings) },
    batch,
  };
  const forward = (signal: Signal) => ({
    receivers: ['otlp'],
    processors: Object.keys(processors),
    exporters: [getShardRouter(signal)],
  });
  return {
    extensions: ownExtensions(settings),
    receivers: { otlp: otlpReceiver(settings) },
    processors,
    pipelines: Object.fromEntries(signals.map((signal) => [signal, forward(signal)])),
  };
}

const ownExtensions = ({ telemetryProxyQueueDirectory: directory, ...settings }: ProxySettings) => ({
  health_check: { endpoint: at(settings.listenAddress, settings.telemetryHealthPort) },
  file_storage: { directory, create_directory: true, timeout: '10s', recreate: true },
  bearertokenauth: { scheme: tokenScheme, filename: toFile(settings, 'tokens') },
  headers_setter: { headers: [{ action: 'upsert', key: 'Authorization', from_context: 'authorization' }] },
});

/** A reload waits for requests and idle connections. An SDK gives up after 10 s. For gRPC see reloader.ts. */
const promptly = { read_header_timeout: '3s', read_timeout: '10s' };

const otlpReceiver = ({ listenAddress, otlpGrpcPort, otlpHttpPort }: ProxySettings) => {
  const protocol = (port: number) => ({
    endpoint: at(listenAddress, port),
    include_metadata: true,
    auth: { authenticator: 'bearertokenauth' },
  });
  // gRPC checks the token after it received the message.
  const grpc = { ...protocol(otlpGrpcPort), max_concurrent_streams: 16 };
  // Empty spans take a hundred times their bytes in memory, so 8 MiB would end the collector. gRPC has the same limit.
  const http = { ...protocol(otlpHttpPort), ...promptly, max_request_body_size: 4 * 1024 * 1024 };
  return { protocols: { grpc, http } };
};

const operatorAttributes = ({ version, deploymentMethod, clusterName, clusterUid = '' }: ProxySettings) =>
  Object.entries({
    'lumigo.k8s_operator.version': version,
    'lumigo.k8s_operator.deployment_method': deploymentMethod,
    'k8s.cluster.name': clusterName,
    'k8s.cluster.uid': clusterUid,
  })
    .filter(([, value]) => value !== '')
    .map(([key, value]) => ({ action: 'upsert', key, value }));

/** The manager serves them to clients with access. No other client reaches them. */
const telemetry = ({ logLevel, metricsSecure, listenAddress, telemetryMetricsPort: port }: ProxySettings) =>
  toTelemetry(logLevel, metricsSecure ? '127.0.0.1' : toHost(listenAddress), port);

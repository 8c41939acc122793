import type { Logger } from 'pino';
import type { RuntimeConfig } from './config.ts';
import { collectedKinds, labels } from './contract.ts';
import type { CredentialCache } from './credentials/cache.ts';
import type { ReadSecret } from './credentials/credential.ts';
import { createClient, type Client } from './kubernetes/client.ts';
import { listWatch } from './kubernetes/list-watch.ts';
import type { Transport } from './kubernetes/transport.ts';
import type { LumigoStore } from './lumigo-store.ts';
import type { Metrics } from './metrics.ts';
import { prepare, tokensFile } from './telemetry-proxy/files.ts';
import { TelemetryProxy } from './telemetry-proxy/proxy.ts';
import type { ProxySettings } from './telemetry-proxy/types.ts';

/** What the telemetry proxy's configuration takes from the manager's. */
export const proxySettings = (config: RuntimeConfig): ProxySettings => ({
  version: config.version,
  deploymentMethod: config.deploymentMethod,
  clusterName: config.clusterName,
  clusterUid: undefined,
  endpoint: config.endpoint,
  debug: config.logLevel === 'debug',
  listenAddress: config.listenAddress,
  ports: {
    otlpHttp: config.otlpHttpPort,
    otlpGrpc: config.otlpGrpcPort,
    health: config.telemetryHealthPort,
    metrics: config.telemetryMetricsPort,
    loop: config.telemetryLoopPort,
  },
  tokensFile: tokensFile(config.telemetryProxyDirectory),
  queueDirectory: config.telemetryProxyQueueDirectory,
  queueBatches: config.telemetryProxyQueueBatches,
  credentials: config.telemetryProxyCredentials,
});

/** Writes what the telemetry proxy finds when it starts. */
export const prepareTelemetryProxy = (config: RuntimeConfig): void =>
  prepare(config.telemetryProxyDirectory, proxySettings(config));

export interface TelemetryOptions {
  readonly config: RuntimeConfig;
  readonly transport: Transport;
  readonly lumigoes: LumigoStore;
  readonly credentials: CredentialCache;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** The telemetry proxy with what it asks of the API server. */
export function createTelemetryProxy({ config, transport, lumigoes, ...running }: TelemetryOptions): TelemetryProxy {
  const { metrics, logger, signal } = running;
  const client = createClient(transport);
  return new TelemetryProxy({
    ...running,
    folder: config.telemetryProxyDirectory,
    settings: proxySettings(config),
    lumigoes,
    readClusterUid: async () => {
      const namespace = { group: '', version: 'v1', plural: 'namespaces', name: 'kube-system' };
      return (await client.get(namespace, { metadataOnly: true })).metadata.uid ?? '';
    },
    versions: () => presentVersions(client),
    watchLabelled: (resource, handler) =>
      listWatch({
        transport,
        resource,
        metadataOnly: true,
        labelSelector: labels.autoTrace,
        signal,
        logger,
        onRestart: (cause) => metrics.watchRestarts.inc({ resource: resource.plural, cause }),
        handler,
      }).synced,
  });
}

export const secretReader =
  (client: Client): ReadSecret =>
  async (namespace, name) => {
    const secret = await client.get({ group: '', version: 'v1', plural: 'secrets', namespace, name });
    const { data = {} } = secret as { data?: Record<string, string> };
    return { data, version: secret.metadata.resourceVersion };
  };

/** A list says how far it has seen, however short it is. */
async function presentVersions(client: Client): Promise<Readonly<Record<string, string>>> {
  const versions = collectedKinds.map(async (kind) => {
    const { value } = await client.pages(kind, { limit: 1, metadataOnly: true }).next();
    return [kind.plural, value?.resourceVersion ?? ''] as const;
  });
  return Object.fromEntries(await Promise.all(versions));
}

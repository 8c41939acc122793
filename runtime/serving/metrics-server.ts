import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { aborted } from '../async/aborted.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { paths } from '../contract.ts';
import type { Pair } from '../certificates/serve-certificate.ts';
import { getLocal, upToLimit } from './get-local.ts';
import { serveTls, type TlsServer } from './tls-server.ts';
import { MAX_CONNECTIONS, serveHttp } from './http-server.ts';
import type { ScrapeAccess } from './scrape-access.ts';

interface Registry {
  readonly metrics: () => Promise<string>;
  readonly contentType: string;
}

interface ScrapeOptions {
  /** The telemetry proxy serves its metrics on loopback. */
  readonly config: Pick<RuntimeConfig, 'telemetryMetricsPort'>;
  readonly registry: Registry;
  readonly access: Pick<ScrapeAccess, 'judge'>;
}

interface MetricsServerOptions extends ScrapeOptions {
  readonly config: Pick<RuntimeConfig, 'metricsSecure' | 'metricsPort' | 'listenAddress' | 'telemetryMetricsPort'>;
}

/** With `metrics.secure`, clients with access get all metrics over TLS. Otherwise every client gets the manager's. */
export class MetricsServer {
  readonly name = 'metrics';
  private server: TlsServer | undefined;
  private pair: Pair | undefined;

  constructor(private readonly options: MetricsServerOptions) {}

  useCertificate(pair: Pair): void {
    this.pair = pair;
    this.server?.useCertificate(pair);
  }

  readonly run = async (signal: AbortSignal): Promise<void> => {
    const { config, registry } = this.options;
    const where = { port: config.metricsPort, host: config.listenAddress };
    if (!config.metricsSecure) return serveHttp(openListener(registry), where, 'metrics', signal);
    this.server = await serveTls(scrapeListener(this.options), where, 'metrics', MAX_CONNECTIONS);
    if (this.pair !== undefined) this.server.useCertificate(this.pair);
    await aborted(signal);
    await this.server.close(0, 1);
  };
}

const openListener =
  (registry: Registry): RequestListener =>
  ({ url }, response) => {
    if (url === paths.metrics) void writeMetrics(registry, response);
    else response.writeHead(404).end('not found');
  };

export function scrapeListener({ config, registry, access }: ScrapeOptions): RequestListener {
  const sources = new Map<string, (response: ServerResponse) => Promise<void>>([
    [paths.metrics, (response) => writeMetrics(registry, response)],
    [paths.telemetryProxyMetrics, (response) => relay(config.telemetryMetricsPort, response)],
  ]);
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url = '', method, headers, socket } = request;
    const source = sources.get(url);
    if (source === undefined)
      return refuse(response, 404, `no metrics at this path; get ${[...sources.keys()].join(' or ')}`);
    if (method !== 'GET') return refuse(response, 405, 'metrics are read-only; send a GET');
    const refusal = await access.judge(headers.authorization, socket.remoteAddress);
    await (refusal === undefined ? source(response) : refuse(response, refusal.status, refusal.message));
  };
  return (request, response) => void answer(request, response).catch(() => response.destroy());
}

const writeMetrics = (registry: Registry, response: ServerResponse): Promise<void> =>
  registry.metrics().then(
    (text) => void response.writeHead(200, { 'content-type': registry.contentType }).end(text),
    () => void response.writeHead(500).end('cannot collect metrics; see the log of the operator'),
  );

const furtherHeaders: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { 'www-authenticate': 'Bearer' },
  405: { allow: 'GET' },
  503: { 'retry-after': '1' },
};

/** Closes the connection, because the body of the request is not read. */
function refuse(response: ServerResponse, status: number, message: string): void {
  const headers = { 'content-type': 'text/plain; charset=utf-8', connection: 'close', ...furtherHeaders[status] };
  response.writeHead(status, headers).end(`${message}\n`);
}

/** The time until the scraper has read the last byte. */
const RELAY_MS = 10_000;

/** Streams the answer, and ends it if it is too long or takes too long. */
async function relay(port: number, response: ServerResponse): Promise<void> {
  const signal = AbortSignal.timeout(RELAY_MS);
  const answer = await getLocal({ port, path: paths.metrics, signal }).catch(() => undefined);
  if (answer?.statusCode !== 200) {
    answer?.destroy();
    return refuse(response, 502, 'cannot read the metrics of the telemetry proxy; see the log of its container');
  }
  response.writeHead(200, { 'content-type': answer.headers['content-type'] ?? 'text/plain' });
  await pipeline(answer, upToLimit, response, { signal });
}

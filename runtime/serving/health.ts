import { createServer, type Server, type ServerResponse } from 'node:http';
import { aborted } from '../async/aborted.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { paths } from '../contract.ts';
import { Connections, requestBounds } from './connections.ts';
import { listen, type Where } from './listen.ts';

interface ServerOptions extends Where {
  readonly signal: AbortSignal;
}

interface HealthOptions {
  readonly config: Pick<RuntimeConfig, 'healthPort' | 'listenAddress'>;
  /** Returns why this replica is not ready; empty if it is. */
  readonly unready: () => readonly string[];
}

/** Any pod can reach these ports. The kubelet and Prometheus need few connections. */
const MAX_CONNECTIONS = 64;

/** Alive: the event loop runs. Ready: caches are filled, a certificate is loaded, and no shutdown has begun. */
export class HealthServer {
  readonly name = 'health';

  constructor(private readonly options: HealthOptions) {}

  readonly run = (signal: AbortSignal): Promise<void> => {
    const { config, unready } = this.options;
    const server = createServer(requestBounds, (request, response) => {
      const problems = request.url === paths.ready ? unready() : [];
      const known = request.url === paths.live || request.url === paths.ready;
      response.statusCode = known ? (problems.length === 0 ? 200 : 503) : 404;
      response.setHeader('content-type', 'text/plain; charset=utf-8');
      response.end(known ? (problems.length === 0 ? 'ok' : `not ready: ${problems.join('; ')}`) : 'not found');
    });
    return serve(server, 'health checks', { port: config.healthPort, host: config.listenAddress, signal });
  };
}

export interface MetricsRegistry {
  readonly metrics: () => Promise<string>;
  readonly contentType: string;
}

interface MetricsOptions extends ServerOptions {
  readonly registry: MetricsRegistry;
}

/** Serves metrics to every client. Rejects with a sentence for the user if the port cannot be bound. */
export function serveMetrics({ registry, ...options }: MetricsOptions): Promise<void> {
  const server = createServer(requestBounds, (request, response) => {
    if (request.url !== paths.metrics) return response.writeHead(404).end('not found');
    void writeMetrics(registry, response);
  });
  return serve(server, 'metrics', options);
}

export const writeMetrics = (registry: MetricsRegistry, response: ServerResponse): Promise<void> =>
  registry.metrics().then(
    (text) => void response.writeHead(200, { 'content-type': registry.contentType }).end(text),
    () => void response.writeHead(500).end('cannot collect metrics; see the log of the operator'),
  );

async function serve(server: Server, purpose: string, { signal, ...where }: ServerOptions): Promise<void> {
  const connections = new Connections(MAX_CONNECTIONS);
  server.on('connection', (socket) => connections.add(socket));
  server.prependListener('request', (request, response) => connections.follow(request, response));
  await listen(server, where, purpose);
  await aborted(signal);
  server.close();
  server.closeAllConnections();
}

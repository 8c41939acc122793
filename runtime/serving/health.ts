import { createServer, type Server, type ServerResponse } from 'node:http';
import { aborted } from '../async/aborted.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { paths } from '../contract.ts';
import { listen, type Where } from './listen.ts';

interface ServerOptions extends Where {
  /** Serves until it is aborted. */
  readonly signal: AbortSignal;
}

interface HealthOptions {
  readonly config: Pick<RuntimeConfig, 'healthPort' | 'listenAddress'>;
  /** What keeps this replica from being ready, in words; empty when it is. */
  readonly unready: () => readonly string[];
}

/**
 * Serves liveness and readiness. Alive means that the event loop turns; ready means that the webhook can decide: caches
 * filled, certificate loaded, not shutting down.
 */
export class HealthServer {
  readonly name = 'health';

  constructor(private readonly options: HealthOptions) {}

  /** Rejects with a sentence if the port is not free. */
  readonly run = (signal: AbortSignal): Promise<void> => {
    const { config, unready } = this.options;
    const server = createServer((request, response) => {
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

/** Serves metrics to anybody. @throws Error with a sentence when the port cannot be had */
export function serveMetrics({ registry, ...options }: MetricsOptions): Promise<void> {
  const server = createServer((request, response) => {
    if (request.url !== paths.metrics) return response.writeHead(404).end('not found');
    void writeMetrics(registry, response);
  });
  return serve(server, 'metrics', options);
}

/** Answers with metrics in the text format of Prometheus. */
export const writeMetrics = (registry: MetricsRegistry, response: ServerResponse): Promise<void> =>
  registry.metrics().then(
    (text) => void response.writeHead(200, { 'content-type': registry.contentType }).end(text),
    () => void response.writeHead(500).end('cannot collect metrics; see the log of the operator'),
  );

async function serve(server: Server, purpose: string, { signal, ...where }: ServerOptions): Promise<void> {
  await listen(server, where, purpose);
  await aborted(signal);
  server.close();
  server.closeAllConnections();
}

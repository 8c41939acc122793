import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RuntimeConfig } from '../config/config.ts';
import { paths } from '../contract.ts';
import { serveHttp } from './http-server.ts';

interface HealthOptions {
  readonly config: Pick<RuntimeConfig, 'healthPort' | 'listenAddress'>;
  /** Returns why this replica is not ready; empty if it is. */
  readonly unready: () => readonly string[];
}

/** Alive: the event loop runs. Ready: caches are filled, a certificate is loaded, and no shutdown has begun. */
export class HealthServer {
  readonly name = 'health';

  constructor(private readonly options: HealthOptions) {}

  readonly run = (signal: AbortSignal): Promise<void> => {
    const { healthPort, listenAddress } = this.options.config;
    const where = { port: healthPort, host: listenAddress };
    return serveHttp((request, response) => this.answer(request, response), where, 'health checks', signal);
  };

  private answer({ url }: IncomingMessage, response: ServerResponse): void {
    const problems = url === paths.ready ? this.options.unready() : [];
    response.setHeader('content-type', 'text/plain; charset=utf-8');
    if (url !== paths.live && url !== paths.ready) response.writeHead(404).end('not found');
    else if (problems.length > 0) response.writeHead(503).end(`not ready: ${problems.join('; ')}`);
    else response.end('ok');
  }
}

import { createServer, type RequestListener } from 'node:http';
import type { Server } from 'node:net';
import { aborted } from '../async/aborted.ts';
import { limitConnections, requestBounds } from './connections.ts';

export interface Where {
  readonly port: number;
  /** Left out, or empty: all addresses. */
  readonly host?: string | undefined;
}

/** The error is a sentence for the user, with the purpose, e.g. `the webhook`. */
export function listen(server: Server, { port, host }: Where, purpose: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program uses this port; choose another port' : error.message;
      reject(new Error(`cannot listen for ${purpose} on port ${port}: ${why}`, { cause: error }));
    });
    server.listen({ port, host }, resolve);
  });
}

/** Any pod can reach these ports. The kubelet and Prometheus need few connections. */
export const MAX_CONNECTIONS = 64;

/** Serves until the signal is aborted. Rejects with a sentence for the user if the port cannot be bound. */
export async function serveHttp(
  app: RequestListener,
  where: Where,
  purpose: string,
  signal: AbortSignal,
): Promise<void> {
  const server = createServer(requestBounds, app);
  limitConnections(server, MAX_CONNECTIONS);
  await listen(server, where, purpose);
  await aborted(signal);
  server.close();
  server.closeAllConnections();
}

import { createServer, type RequestListener } from 'node:http';
import { aborted } from '../async/aborted.ts';
import { limitConnections, requestBounds } from './connections.ts';
import { listen, type Where } from './listen.ts';

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

import { createServer } from 'node:https';
import type { RequestListener } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pair } from '../certificates/serve-certificate.ts';
import { limitConnections, requestBounds } from './connections.ts';
import { listen, type Where } from './http-server.ts';

export interface TlsServer {
  /** Open connections keep their pair. Throws on a pair that does not fit. */
  useCertificate(pair: Pair): void;
  /**
   * Answers for `drainSeconds` more, then waits up to `graceSeconds` for open requests. Each answer ends its
   * connection, because the API server does not repeat a request that meets a closing one.
   */
  close(drainSeconds: number, graceSeconds?: number): Promise<void>;
}

/** The API server keeps an idle connection for 90 s, and must not meet one that is just closing after a request. */
const KEEP_ALIVE_MS = 100_000;
const MAX_HEADER_BYTES = 8 * 1024;

/** Resolves when it listens. Rejects with a sentence for the user if it cannot. Without a certificate, handshakes fail. */
export async function serveTls(
  app: RequestListener,
  where: Where,
  purpose: string,
  mostConnections: number,
): Promise<TlsServer> {
  let isDraining = false;
  const bounds = {
    ...requestBounds,
    handshakeTimeout: requestBounds.headersTimeout,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const server = createServer({ minVersion: 'TLSv1.2', ...bounds }, (request, response) => {
    if (isDraining) response.setHeader('Connection', 'close');
    app(request, response);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  const closeConnections = limitConnections(server, mostConnections);
  await listen(server, where, purpose);
  return {
    useCertificate({ cert, key }) {
      server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
    },
    async close(drainSeconds, graceSeconds = 10) {
      isDraining = true;
      await sleep(drainSeconds * 1000);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const deadline = setTimeout(closeConnections, graceSeconds * 1000);
      await closed;
      clearTimeout(deadline);
    },
  };
}

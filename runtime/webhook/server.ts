import { createServer, type Server } from 'node:https';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connections } from './connections.ts';

interface WebhookServer {
  /** Resolves once the port is bound; rejects with a sentence when it cannot be. */
  readonly listening: Promise<number>;
  /** Serves new connections with this pair; those that are open go on with theirs. Throws on a pair that does not fit. */
  useCertificate(pair: { cert: Buffer; key: Buffer }): void;
  /**
   * Goes on answering for `drainSeconds`, then closes: what was begun is answered, no later than `graceSeconds` after. Each
   * connection ends with the next answer on it: the API server keeps one open to a replica that no new one leads to any more,
   * and what it sends there in the moment in which we close is not sent again.
   */
  close(drainSeconds: number, graceSeconds?: number): Promise<void>;
}

/** Longer than the API server keeps an idle connection (90 s), so that it never meets one that is just being closed. */
const KEEP_ALIVE_MS = 100_000;
/** The API server gives up after 5 s; a client that has not sent its request by then is none. */
const REQUEST_MS = 10_000;
/** So long a connection may take to begin: its handshake, and the headers of its first request. */
const BEGIN_MS = 5_000;
/** The API server needs one for each review that it waits for; each takes some 100 KB with a body that is small (body.ts). */
const MOST_CONNECTIONS = 512;
const MOST_HEADER_BYTES = 8 * 1024;

/** Serves `app` over TLS on `port` (0: any free one). Without a certificate yet, handshakes fail and nothing else does. */
export function serveWebhook(app: RequestListener, port: number, host?: string): WebhookServer {
  let isDraining = false;
  const connections = new Connections(MOST_CONNECTIONS);
  const bounds = {
    handshakeTimeout: BEGIN_MS,
    headersTimeout: BEGIN_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: MOST_HEADER_BYTES,
  };
  const server = createServer({ minVersion: 'TLSv1.2', ...bounds }, (request, response) => {
    connections.used(request.socket);
    if (isDraining) response.setHeader('Connection', 'close');
    app(request, response);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('connection', (socket: Socket) => connections.add(socket));
  return {
    listening: listen(server, port, host),
    useCertificate: ({ cert, key }) => server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' }),
    async close(drainSeconds, graceSeconds = 10) {
      isDraining = true;
      await sleep(drainSeconds * 1000);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const deadline = setTimeout(() => connections.closeAll(), graceSeconds * 1000);
      await closed;
      clearTimeout(deadline);
    },
  };
}

function listen(server: Server, port: number, host?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'another program listens there; choose another port' : error.message;
      reject(new Error(`cannot serve the webhook on port ${port}: ${why}`, { cause: error }));
    });
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

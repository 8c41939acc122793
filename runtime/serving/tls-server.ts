import { createServer } from 'node:https';
import type { RequestListener } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Pair } from '../certificates/serve-certificate.ts';
import { Connections } from './connections.ts';
import { listen, type Where } from './listen.ts';

export interface TlsServer {
  /** Resolves once the port is bound; rejects with a sentence when it cannot be. */
  readonly listening: Promise<number>;
  /**
   * Serves new connections with this pair; those that are open go on with theirs. Throws on a pair that does not fit.
   */
  useCertificate(pair: Pair): void;
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
const MOST_HEADER_BYTES = 8 * 1024;

interface TlsServerOptions extends Where {
  /** For the message of an error: `the webhook`. */
  readonly purpose: string;
  readonly mostConnections: number;
}

/** Serves `app` over TLS. Without a certificate yet, handshakes fail and nothing else does. */
export function serveTls(app: RequestListener, options: TlsServerOptions): TlsServer {
  let isDraining = false;
  const connections = new Connections(options.mostConnections);
  const bounds = {
    handshakeTimeout: BEGIN_MS,
    headersTimeout: BEGIN_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: MOST_HEADER_BYTES,
  };
  const server = createServer({ minVersion: 'TLSv1.2', ...bounds }, (request, response) => {
    connections.follow(request, response);
    if (isDraining) response.setHeader('Connection', 'close');
    app(request, response);
  });
  server.keepAliveTimeout = KEEP_ALIVE_MS;
  server.on('connection', (socket: Socket) => connections.add(socket));
  return {
    listening: listen(server, options, options.purpose),
    useCertificate({ cert, key }) {
      server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
    },
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

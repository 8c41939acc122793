import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';

/** Milliseconds. The API server gives up after 5 s. Unused connections end, too (docs/contributing/reliability.md). */
export const requestBounds = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };

interface Connection {
  readonly socket: Socket;
  /** `unused`: no request was read to its end. `waiting`: one was, and is not answered. */
  stage: 'unused' | 'idle' | 'waiting';
}

/**
 * Limits open connections, because any pod can open many, and the API server needs its own. A new one replaces another:
 * an unused one if these have half of the places, otherwise the idle one with the oldest request. Call the result to
 * close all.
 */
export function limitConnections(server: Server, limit: number): () => void {
  /** The keys are addresses, in the order of their last requests. */
  const open = new Map<string, Connection>();
  server.on('connection', (socket) => {
    if (open.size >= limit) makeRoom(open, limit);
    const key = toKey(socket);
    const connection: Connection = { socket, stage: 'unused' };
    open.set(key, connection);
    socket.once('close', () => {
      if (open.get(key) === connection) open.delete(key);
    });
  });
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    // The request has the TLS socket. The connection's socket is below it, with the same address.
    const key = toKey(request.socket);
    const connection = open.get(key);
    if (connection === undefined) return;
    open.delete(key);
    open.set(key, connection);
    request.once('end', () => {
      // A request can be answered before its end.
      if (!response.writableEnded) connection.stage = 'waiting';
    });
    response.once('close', () => (connection.stage = 'idle'));
  });
  return () => {
    for (const { socket } of open.values()) socket.destroy();
  };
}

function makeRoom(open: Map<string, Connection>, limit: number): void {
  const all = [...open];
  const oldest = (stage: Connection['stage']) => all.find(([, connection]) => connection.stage === stage);
  const unused = all.filter(([, { stage }]) => stage === 'unused');
  const found = unused.length >= limit / 2 ? unused[0] : (oldest('idle') ?? unused[0] ?? oldest('waiting'));
  if (found === undefined) return;
  const [key, { socket }] = found;
  // Waiting for `close` would be too late: the same one must not be chosen twice.
  open.delete(key);
  socket.destroy();
}

const toKey = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

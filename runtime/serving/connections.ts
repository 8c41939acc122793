import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds. The API server gives up after 5 s, so a slower request is not from it. */
export const requestBounds = { headersTimeout: 5_000, requestTimeout: 10_000, connectionsCheckingInterval: 1_000 };

interface Connection {
  readonly socket: Socket;
  /** `unused`: no request was read to its end. `waiting`: one was, and is not answered. */
  stage: 'unused' | 'idle' | 'waiting';
}

/**
 * Limits open connections, because any pod can open many, and the API server needs its own. A new one replaces another:
 * an unused one if these have half of the places, otherwise the idle one with the oldest request.
 */
export class Connections {
  /** The keys are addresses, in the order of their last requests. */
  private readonly open = new Map<string, Connection>();

  constructor(private readonly limit: number) {}

  add(socket: Socket): void {
    if (this.open.size >= this.limit) this.makeRoom();
    const key = toKey(socket);
    const connection = { socket, stage: 'unused' } as const;
    this.open.set(key, connection);
    socket.once('close', () => {
      if (this.open.get(key) === connection) this.open.delete(key);
    });
  }

  follow(request: IncomingMessage, response: ServerResponse): void {
    // The request has the TLS socket. The connection's socket is below it, with the same address.
    const key = toKey(request.socket);
    const connection = this.open.get(key);
    if (connection === undefined) return;
    this.open.delete(key);
    this.open.set(key, connection);
    request.once('end', () => {
      // A request can be answered before its end.
      if (!response.writableEnded) connection.stage = 'waiting';
    });
    response.once('close', () => (connection.stage = 'idle'));
  }

  closeAll(): void {
    for (const { socket } of this.open.values()) socket.destroy();
  }

  private makeRoom(): void {
    const all = [...this.open];
    const oldest = (stage: Connection['stage']) => all.find(([, connection]) => connection.stage === stage);
    const unused = all.filter(([, { stage }]) => stage === 'unused');
    const found = unused.length >= this.limit / 2 ? unused[0] : (oldest('idle') ?? unused[0] ?? oldest('waiting'));
    if (found === undefined) return;
    const [key, { socket }] = found;
    // Waiting for `close` would be too late: the same one must not be chosen twice.
    this.open.delete(key);
    socket.destroy();
  }
}

const toKey = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

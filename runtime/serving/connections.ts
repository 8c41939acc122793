import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

interface Connection {
  readonly socket: Socket;
  /** `unused`: no request was read to its end. `waiting`: one was, and is not answered. */
  stage: 'unused' | 'idle' | 'waiting';
}

/**
 * The open connections of a server, at most `limit`. Beyond that one gives way to the new one, because any pod can open any number
 * and the API server must get its own. Unused ones have half of the places: more of them cost each other their place, and
 * never an idle one. Otherwise the idle one with the oldest request gives way. One that waits for an answer is the last resort.
 */
export class Connections {
  /** By address, in the order of their last request. */
  private readonly open = new Map<string, Connection>();

  constructor(private readonly limit: number) {}

  /** Adds a connection, before its handshake. */
  add(socket: Socket): void {
    if (this.open.size >= this.limit) this.makeRoom();
    const [key, connection] = [keyOf(socket), { socket, stage: 'unused' } as const];
    this.open.set(key, connection);
    socket.once('close', () => {
      if (this.open.get(key) === connection) this.open.delete(key);
    });
  }

  /** Follows a request to its answer. */
  follow(request: IncomingMessage, response: ServerResponse): void {
    // The request has the TLS socket; the connection has the one below it, with the same address.
    const key = keyOf(request.socket);
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
    // At once, not upon `close`, which comes later: the same one must not be chosen twice.
    this.open.delete(key);
    socket.destroy();
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

import type { Socket } from 'node:net';

/**
 * The connections that are open, at most so many. Beyond that the one that was used longest ago gives way, and no new one is
 * turned away: anybody can open any number, and the API server's are those that are used.
 */
export class Connections {
  /** In the order of their last use. */
  private readonly open = new Map<string, Socket>();
  private outdated = new WeakSet<Socket>();

  constructor(private readonly most: number) {}

  /** A new one, before its handshake. */
  add(socket: Socket): void {
    const key = keyOf(socket);
    this.open.set(key, socket);
    socket.once('close', () => {
      if (this.open.get(key) === socket) this.open.delete(key);
    });
    const [oldest] = this.open.values();
    if (this.open.size > this.most) oldest?.destroy();
  }

  /** A request has come on it, by whichever of the layers of one connection. Returns whether it is outdated. */
  used(socket: Socket): boolean {
    const key = keyOf(socket);
    const open = this.open.get(key);
    if (open === undefined) return false;
    this.open.delete(key);
    this.open.set(key, open);
    return this.outdated.has(open);
  }

  /** Those that are open now were begun under conditions that hold no longer. */
  outdate(): void {
    this.outdated = new WeakSet(this.open.values());
  }

  closeAll(): void {
    for (const socket of this.open.values()) socket.destroy();
  }
}

const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A proxy with a real TCP connection on each side, which can interfere with the bytes. */
export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

export async function startTcpProxy(targetPort: number) {
  const open = new Set<{ near: Socket; far: Socket }>();
  const state = { accepted: 0, frozen: false, blocked: false, delayMs: 0 };
  const cut = (): void => {
    for (const { near } of open) reset(near);
  };
  const server = createServer((near) => {
    if (state.blocked) return void reset(near);
    state.accepted += 1;
    const pair = { near, far: connect(targetPort, '127.0.0.1') };
    open.add(pair);
    pass(pair.near, pair.far, () => 0);
    pass(pair.far, pair.near, () => state.delayMs);
    if (state.frozen) thaw(pair, false);
    near.once('close', () => open.delete(pair));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    accepted: (): number => state.accepted,
    /** Resets every connection, as a failing network does. New ones are accepted. */
    cut,
    /** Accepts bytes without passing them on, as if the other side were gone silently. New connections are affected as well. */
    freeze(frozen: boolean): void {
      state.frozen = frozen;
      for (const pair of open) thaw(pair, !frozen);
    },
    /** Resets each present connection when a side sends next, as if the other side had closed it meanwhile. */
    cutWhenUsed(): void {
      for (const { near, far } of open) near.removeAllListeners('data').once('data', () => reset(far));
    },
    /** Resets every connection, and each new one, until it is unblocked. */
    block(blocked: boolean): void {
      state.blocked = blocked;
      if (blocked) cut();
    },
    delayAnswers(milliseconds: number): void {
      state.delayMs = milliseconds;
    },
    async close(): Promise<void> {
      cut();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Node.js (20, 24) never closes a socket that is reset while it is being ended, and loops forever on the rest. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function pass(from: Socket, to: Socket, delayMs: () => number): void {
  const late: Buffer[] = [];
  from.on('data', (chunk) => {
    if (late.length === 0 && delayMs() === 0) return void to.write(chunk);
    late.push(chunk);
    // The timer that fires first sends the first bytes, so the order is kept if the delay changes.
    setTimeout(() => to.write(late.shift() ?? ''), delayMs());
  });
  from.on('error', () => reset(to));
  from.on('end', () => to.end());
  from.on('close', () => to.destroy());
}

function thaw({ near, far }: { near: Socket; far: Socket }, flowing: boolean): void {
  for (const socket of [near, far])
    if (flowing) socket.resume();
    else socket.pause();
}

import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';

/** A network to be broken: a real TCP connection on each side, bytes passed between them, and ways to interfere. */
export type TcpProxy = Awaited<ReturnType<typeof startTcpProxy>>;

/** Listens on a free port of loopback, and passes everything on to `targetPort`. */
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
    /** Connections accepted since the start. */
    accepted: (): number => state.accepted,
    /** Resets every connection, as a failing network does. New ones are accepted. */
    cut,
    /** Accepts bytes and passes none on: the other side is gone, and nobody says so. Also for connections yet to come. */
    freeze(frozen: boolean): void {
      state.frozen = frozen;
      for (const pair of open) thaw(pair, !frozen);
    },
    /** Resets each present connection as soon as something is sent over it, as one does that the other side has closed meanwhile. */
    cutWhenUsed(): void {
      for (const { near, far } of open) near.removeAllListeners('data').once('data', () => reset(far));
    },
    /** Resets every connection, and each new one, until told otherwise. */
    block(blocked: boolean): void {
      state.blocked = blocked;
      if (blocked) cut();
    },
    /** Has what the other side sends arrive so many milliseconds later. */
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

/** Node.js (20, 24) never closes a socket that is reset while it is being ended, and turns for ever on what is left of it. */
export function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

/** Passes bytes on, and the end of the connection, however it came about. */
function pass(from: Socket, to: Socket, delayMs: () => number): void {
  const late: Buffer[] = [];
  from.on('data', (chunk) => {
    if (late.length === 0 && delayMs() === 0) return void to.write(chunk);
    late.push(chunk);
    // Whichever timer fires first sends what came first, so that the order stays when the delay changes.
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

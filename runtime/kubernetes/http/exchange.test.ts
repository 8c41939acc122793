import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { once } from 'node:events';
import { Agent } from 'node:http';
import { Agent as TlsAgent, createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Readable } from 'node:stream';
import { bounds } from './byte-budget.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { startTcpProxy } from '../../../sandbox/testing/tcp-proxy.ts';
import { issueAuthority, issueServing } from '../../certificates/issue.ts';
import { exchange, FencedError, parseRetryAfter, parseWarnings } from './exchange.ts';
import { toLines } from './reading.ts';

async function split(chunks: readonly Buffer[], skipped: number[] = []): Promise<string[]> {
  const lines: string[] = [];
  const bytes = Readable.from(chunks, { objectMode: false });
  for await (const line of toLines(bytes as AsyncIterable<Buffer>, (length) => skipped.push(length))) lines.push(line);
  return lines;
}

let server: Server;
let sockets: Socket[] = [];
/** Answers each connection with these bytes. Returns a function that reads an answer. */
async function serve(bytes: string, isEnd = true) {
  sockets = [];
  server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    socket.once('data', () => (isEnd ? socket.end(bytes) : socket.write(bytes)));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const asked = { server: address, agent: new Agent(), method: 'GET', path: '/pods', headers: {}, timeoutMs: 5_000 };
  return async (limits: { readonly maxBytes?: number; readonly timeoutMs?: number } = {}) =>
    (await (await exchange({ ...asked, ...limits })).body()).body;
}
afterEach(() => void server?.close());

describe('an answer', () => {
  const head = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n';

  it.each([
    ['whole', `${head}2\r\n{}\r\n0\r\n\r\n`, '{}'],
    ['cut off', `${head}2\r\n{`, 'aborted'],
    ['garbled in the same piece as its head', `${head}no length\r\n`, 'aborted'],
  ])('is reported as it is if it is %s', async (_what, bytes, told) => {
    const read = await serve(bytes);
    expect(await read().catch(String)).toContain(told);
  });

  it('is refused if it is larger than the limit, and releases its share of the budget [F66]', async () => {
    const size = 300_000;
    const read = await serve(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n${'x'.repeat(size)}`);
    const tooLarge = 'The answer from /pods exceeds the limit of 200000 bytes';
    const tries = Math.ceil(bounds.inFlightBytes / 200_000) + 1;
    for (let turns = 0; turns < tries; turns += 1) await expect(read({ maxBytes: 200_000 })).rejects.toThrow(tooLarge);
    expect(await read()).toHaveLength(size);
  }, 30_000);

  it('ends at its own timeout while it waits for its share of the budget, which others keep [F66]', async () => {
    const size = bounds.answerBytes;
    const part = 'x'.repeat(bounds.freeBytes + 1);
    const read = await serve(`HTTP/1.1 200 OK\r\ncontent-length: ${size}\r\n\r\n${part}`, false);
    const ended: string[] = [];
    const reading = (name: string, timeoutMs: number) =>
      read({ timeoutMs }).catch((error: unknown) => ended.push(`${name} ${(error as { code?: string }).code}`));
    const holders = Array.from({ length: bounds.inFlightBytes / size }, () => reading('holder', 30_000));
    await eventually(() => expect(sockets).toHaveLength(holders.length));
    await reading('waiter', 1_000);
    expect(ended).toEqual(['waiter TIMEOUT']);
    for (const socket of sockets) socket.destroy();
    await Promise.all(holders);
  }, 30_000);
});

it('names the cause if each of several addresses of the host fails', async () => {
  await serve('');
  const port = (server.address() as AddressInfo).port;
  await once(server.close(), 'close');
  const addresses = [
    { address: '127.0.0.1', family: 4 },
    { address: '::1', family: 6 },
  ];
  const agent = new Agent({ lookup: (_host, _options, found) => found(null, addresses) });
  const asked = {
    server: new URL(`http://api:${port}`),
    agent,
    method: 'GET',
    path: '/',
    headers: {},
    timeoutMs: 5_000,
  };
  await expect(exchange(asked)).rejects.toThrow('cannot be reached: ECONNREFUSED; check that');
});

it('sends nothing if the term ends during the handshake, as in a suspended process', async () => {
  const validity = { now: new Date(), days: 1 };
  const authority = await issueAuthority('test', validity);
  const { certificate: cert, key } = await issueServing(authority, ['127.0.0.1'], validity);
  const paths: unknown[] = [];
  const answer = createTlsServer({ cert, key }, ({ url }, response) => response.end(`"${paths.push(url)}"`));
  server = answer.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const proxy = await startTcpProxy((server.address() as AddressInfo).port);
  const agent = new TlsAgent({ keepAlive: true, ca: authority.certificate });
  const at = new URL(`https://127.0.0.1:${proxy.port}`);
  const asked = { server: at, agent, method: 'GET', headers: {}, timeoutMs: 5_000 };
  let isOver = false;
  const over = new FencedError('the term is over');
  const fence = () => {
    if (isOver) throw over;
  };
  proxy.freeze(true);
  const late = exchange({ ...asked, path: '/late', fence });
  await eventually(() => expect(proxy.accepted()).toBe(1));
  isOver = true;
  proxy.freeze(false);
  await expect(late).rejects.toBe(over);
  isOver = false;
  for (const path of ['/first', '/next']) await (await exchange({ ...asked, path, fence })).body();
  expect([paths, proxy.accepted()]).toEqual([['/first', '/next'], 2]);
  agent.destroy();
  await proxy.close();
});

describe('toLines', () => {
  it('returns the same lines however the bytes are divided, also within a character', async () => {
    const text = fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replaceAll('\n', '')));
    await fc.assert(
      fc.asyncProperty(text, fc.array(fc.nat()), async (lines, cuts) => {
        const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
        const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const chunks = edges.slice(1).map((end, index) => bytes.subarray(edges[index], end));
        expect(await split(chunks)).toEqual(lines.filter((line) => line !== ''));
      }),
    );
  });

  it('skips a line longer than the limit, and continues after it [F66]', async () => {
    const skipped: number[] = [];
    const chunks = Array.from({ length: 20 }, () => Buffer.alloc(100_000, 'x'));
    expect(await split([Buffer.from('one\n'), ...chunks, Buffer.from('\ntwo\n')], skipped)).toEqual(['one', 'two']);
    expect(skipped).toEqual([2_000_000]);
  });

  const long = Buffer.alloc(bounds.freeBytes + 1, 'x');
  const end = Buffer.from('\n');
  it.each([
    ['ends', [long, end], true],
    ['is too long to read', Array<Buffer>(bounds.lineBytes / bounds.freeBytes).fill(long), true],
    ['breaks off', [long], false],
  ])('gives back the share of a line that %s [F66]', async (_case, chunks, isOpen) => {
    const read = () =>
      new Promise<void>((resolve) => {
        const source = async function* () {
          yield* chunks;
          resolve();
          if (isOpen) await new Promise(() => undefined);
        };
        void Readable.from(toLines(source(), () => undefined)).toArray();
      });
    for (let readers = 0; readers < bounds.inFlightBytes / bounds.lineBytes; readers += 1) await read();
    expect(await split([long, end])).toHaveLength(1);
  });

  it('does not return an unfinished line', async () =>
    expect(await split([Buffer.from('whole\nhal')])).toEqual(['whole']));

  it('copies the pieces of a long line once, so its time does not grow with their square', async () => {
    const concat = jest.spyOn(Buffer, 'concat');
    const chunks = Array.from({ length: 1_000 }, () => Buffer.alloc(64, 'x'));
    const [line] = await split([...chunks, end]);
    const copied = concat.mock.calls.flatMap(([pieces]) => pieces);
    concat.mockRestore();
    expect([line?.length, copied.length]).toEqual([64_000, 1_000]);
  });
});

describe('parseWarnings', () => {
  it('ignores the warning of a cache', () => expect(parseWarnings(['110 proxy "Response is stale"'])).toEqual([]));

  it('returns whatever text was quoted, of several headers and in one', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constant('say "299 - no", then \\ stop'))), (texts) => {
        const headers = texts.map((text) => `299 - "${text.replace(/["\\]/g, String.raw`\$&`)}"`);
        expect([parseWarnings(headers), parseWarnings([headers.join(', ')])]).toEqual([texts, texts]);
      }),
    );
  });
});

describe('parseRetryAfter', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  it.each([
    ['7', 7],
    ['Tue, 01 Jan 2030 00:00:30 GMT', 30],
    ['Mon, 31 Dec 2029 23:00:00 GMT', 0],
    ['soon', undefined],
    [undefined, undefined],
  ])('%s', (header, seconds) => expect(parseRetryAfter(header, now)).toBe(seconds));
});

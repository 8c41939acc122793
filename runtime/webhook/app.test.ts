import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { pino } from 'pino';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { paths } from '../contract.ts';
import { settings } from '../../sandbox/testing/injection.ts';
import { createApp, type Review } from './app.ts';
import { reviewWorkload } from './injector.ts';
import { reviewType, type Answer } from './review.ts';

const review = (request: object) => ({ ...reviewType, request });
const created = (uid: string, object?: unknown) => JSON.stringify(review({ uid, operation: 'CREATE', object }));
const log: Record<string, unknown>[] = [];
let answer: () => Answer = () => ({ code: 200, message: 'fine' });
let server: Server;
let accepted: Socket[];
let port: number;

beforeEach(async () => {
  log.length = 0;
  const logger = pino(
    { level: 'debug' },
    { write: (line: string) => log.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const policy = () => {
    throw new Error('it was reviewed');
  };
  const context = { injector: settings, ownUser: 'us', lumigoes: { policy, effective: () => undefined } };
  const injector: Review = (request) => (request.unread === undefined ? answer() : reviewWorkload(request, context));
  server = createServer(createApp({ reviews: { [paths.inject]: injector, [paths.lumigoes]: () => answer() }, logger }));
  accepted = [];
  server.on('connection', (socket) => accepted.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function post(body: string, path: string = paths.inject): Promise<{ status: number; body: never }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as never };
}

function begin(length: number): Socket {
  const head = `POST ${paths.inject} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1', () => socket.write(head + ' '.repeat(length - 1)));
  return socket.on('error', () => undefined);
}

describe('the webhook application', () => {
  it('answers a review under its uid, with the patch encoded', async () => {
    const patch = [{ op: 'add', path: '/x', value: 1 } as const];
    answer = () => ({ code: 200, message: 'injected', patch, warnings: ['note'] });
    const response = {
      uid: 'u1',
      allowed: true,
      status: { code: 200, message: 'injected' },
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
      warnings: ['note'],
    };
    expect(await post(created('u1'))).toEqual({ status: 200, body: { ...reviewType, response } });
  });

  it('refuses a second Lumigo too large to parse, and allows a workload of that size [F66]', async () => {
    answer = () => ({ code: 409, message: 'there is one' });
    const object = { metadata: { labels: { long: 'x'.repeat(1_200_000) } } };
    const body = JSON.stringify(review({ uid: 'u2', namespace: 'shop', operation: 'CREATE', object }));
    const verdict = { response: { uid: 'u2', allowed: false, status: { code: 409, message: 'there is one' } } };
    expect((await post(body, paths.lumigoes)).body).toMatchObject(verdict);
    expect((await post(body)).body).toMatchObject({ response: { uid: 'u2', allowed: true } });
  });

  it.each([
    [undefined, 20],
    ['Deployment shop/cart', 30],
  ])(
    'logs an answer with the documented names, about a notable workload (%s) at level %d [F53]',
    async (notable, level) => {
      answer = () => ({ code: 200, message: 'because', ...(notable && { notable }) });
      await post(created('u3'));
      const fields = { webhook: '/v1alpha1/inject', code: 200, reason: 'because', UID: 'u3', allowed: true };
      expect(log).toMatchObject([{ level, msg: 'wrote response', ...fields, ...(notable && { workload: notable }) }]);
    },
  );

  it('logs at most 100 notable answers a minute at level info, and of each text 1,000 characters', async () => {
    const long = 'x'.repeat(50_000);
    answer = () => ({ code: 200, message: long, notable: `Deployment kube-system/${long}` });
    for (let sent = 0; sent < 110; sent += 1) await post(created(long));
    const levels = log.map(({ level }) => level);
    expect(levels).toEqual([...Array<number>(100).fill(30), ...Array<number>(10).fill(20)]);
    expect(Math.max(...log.map((line) => JSON.stringify(line).length))).toBeLessThan(3_500);
    answer = () => {
      throw new Error('a bug');
    };
    await post(created('u2'));
    expect(log.at(-1)).toMatchObject({ level: 50, UID: 'u2' });
    const now = jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
    answer = () => ({ code: 200, message: 'fine', notable: 'Deployment shop/cart' });
    await post(created('u3')).finally(() => now.mockRestore());
    expect(log.at(-1)).toMatchObject({ level: 30, UID: 'u3' });
  });

  it('allows whatever it fails to review, and says why within the same limits [D50]', async () => {
    answer = () => {
      throw new Error(`a bug ${'x'.repeat(50_000)}`);
    };
    const { status, body } = await post(created('u3'), paths.lumigoes);
    for (let sent = 0; sent < 109; sent += 1) await post(created('x'.repeat(50_000)), paths.lumigoes);
    const levels = log.map(({ level }) => level);
    expect(levels).toEqual([...Array<number>(100).fill(50), ...Array<number>(10).fill(20)]);
    expect(log[0]).toMatchObject({ code: 500, stack: expect.stringContaining('a bug') });
    expect(Math.max(...log.map((line) => JSON.stringify(line).length))).toBeLessThan(3_500);
    expect(status).toBe(200);
    expect(body).toMatchObject({ response: { uid: 'u3', allowed: true, status: { code: 500 } } });
    expect(JSON.stringify(body)).toContain('a bug');
  });

  it.each([
    ['no JSON', 'nonsense', 400],
    ['an empty body', '', 400],
    ['JSON of another kind', '{"kind":"Pod"}', 400],
    ['a list', '[]', 400],
    ['a review without a request', JSON.stringify(reviewType), 400],
    ['another version', JSON.stringify({ ...review({ uid: 'x' }), apiVersion: 'admission.k8s.io/v1beta1' }), 400],
    ['2 MB of another kind', `{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`, 413],
    ['8 MB', `{"a":"${'x'.repeat(8 * 1024 * 1024)}"}`, 413],
  ])('answers %s with a 4xx and a sentence', async (_case, body, status) => {
    const answered = await post(body);
    expect(answered.status).toBe(status);
    expect((answered.body as { message: string }).message).toMatch(/\w+ \w+/);
  });

  it('answers an unknown path with a 404', async () => {
    expect((await post('{}', '/elsewhere')).status).toBe(404);
  });

  it.each([
    ['6 MB, the largest that an API server sends', { x: 'y'.repeat(6_000_000) }, '1048576 are read'],
    ['a megabyte of small values', Array.from({ length: 300_000 }, () => ({})), 'many small values'],
  ])('allows %s unread, with a warning [F21]', async (_case, object, why) => {
    const { status, body } = await post(created('u-1', object));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      response: { uid: 'u-1', allowed: true, status: { code: 200 }, warnings: [expect.stringContaining(why)] },
    });
    expect(body).not.toHaveProperty('response.patch');
  });

  it('has room for a limited number of large bodies, and always for small ones [F21]', async () => {
    answer = () => ({ code: 200, message: 'fine' });
    const held = Array.from({ length: 8 }, () => begin(1024 * 1024));
    const isRead = ({ bytesRead }: Socket): boolean => bytesRead > 1024 * 1024;
    await eventually(() => expect(accepted.filter(isRead)).toHaveLength(8));
    const refused = await post(created('u-1', { x: 'y'.repeat(500_000) }));
    expect(refused.status).toBe(429);
    expect(refused.body).toHaveProperty('message', expect.stringContaining('too many large reviews'));
    expect((await post(created('u-1', { x: 'y'.repeat(50_000) }))).status).toBe(200);
    for (const socket of held) socket.destroy();
    await eventually(async () => expect((await post(created('u-1', { x: 'y'.repeat(500_000) }))).status).toBe(200));
  });

  it('keeps only the head of bodies that are too large to be parsed, and reviews those of a megabyte [F21]', async () => {
    answer = () => ({ code: 200, message: 'fine' });
    const held = Array.from({ length: 8 }, () => begin(2 * 1024 * 1024));
    await eventually(async () => {
      for (let sent = 0; sent < 20; sent += 1)
        expect(await post(created('u-1', { x: 'y'.repeat(1_000_000) }))).toMatchObject({
          body: { response: { allowed: true, status: { message: 'fine' } } },
        });
    });
    for (const socket of held) socket.destroy();
  });

  it('continues after half a body', async () => {
    const socket = begin(100);
    await once(socket, 'connect');
    socket.destroy();
    await once(socket, 'close');
    answer = () => ({ code: 200, message: 'alive' });
    expect((await post(created('after'))).body).toMatchObject({
      response: { status: { message: 'alive' } },
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { pino } from 'pino';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { paths } from '../contract.ts';
import { createApp } from './app.ts';
import type { Answer } from './review.ts';

const review = (request: object) => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request });
const pod = { group: '', version: 'v1', kind: 'Pod' };
const log: Record<string, unknown>[] = [];
let answer: () => Answer = () => ({ allowed: true, code: 200, message: 'fine' });
let server: Server;
let port: number;

beforeAll(async () => {
  const logger = pino(
    { level: 'debug' },
    { write: (line: string) => log.push(JSON.parse(line) as Record<string, unknown>) },
  );
  const all = { injector: () => answer(), lumigoes: () => answer(), pods: () => answer() };
  server = createServer(createApp({ ...all, logger }));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

function post(
  body: string | Buffer,
  path: string = paths.inject,
  type = 'application/json',
): Promise<{ status: number; body: never }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type, 'content-length': Buffer.byteLength(body) };
    const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(Buffer.concat(chunks).toString()) as never }),
      );
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Sends all of a body but its last byte. */
function begin(length: number): Socket {
  const head = `POST ${paths.inject} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
  const socket = connect(port, '127.0.0.1', () => socket.write(head + ' '.repeat(length - 1)));
  return socket.on('error', () => undefined);
}

describe('the webhook application', () => {
  it('answers a review under its uid, with the patch encoded', async () => {
    const patch = [{ op: 'add', path: '/x', value: 1 } as const];
    answer = () => ({ allowed: true, code: 200, message: 'injected', patch, warnings: ['note'] });
    expect(await post(JSON.stringify(review({ uid: 'u1', kind: pod, operation: 'CREATE' })))).toEqual({
      status: 200,
      body: {
        apiVersion: 'admission.k8s.io/v1',
        kind: 'AdmissionReview',
        response: {
          uid: 'u1',
          allowed: true,
          status: { code: 200, message: 'injected' },
          patchType: 'JSONPatch',
          patch: Buffer.from(JSON.stringify(patch)).toString('base64'),
          warnings: ['note'],
        },
      },
    });
  });

  it('refuses a second Lumigo whose review is too large to be parsed, and lets a workload of that size in [F66]', async () => {
    answer = () => ({ allowed: false, code: 409, message: 'there is one' });
    const object = { metadata: { labels: { long: 'x'.repeat(1_200_000) } } };
    const body = JSON.stringify(review({ uid: 'u2', kind: pod, namespace: 'shop', operation: 'CREATE', object }));
    const verdict = { response: { uid: 'u2', allowed: false, status: { code: 409, message: 'there is one' } } };
    expect((await post(body, paths.lumigoes)).body).toMatchObject(verdict);
    expect((await post(body)).body).toMatchObject({ response: { uid: 'u2', allowed: true } });
  });

  it.each([
    [undefined, 'debug'],
    ['Deployment shop/cart', 'info'],
  ] as const)('F53: logs an answer about a workload that is notable (%s) at the level %s', async (notable, level) => {
    log.length = 0;
    answer = () => ({ allowed: true, code: 200, message: 'because', ...(notable === undefined ? {} : { notable }) });
    await post(JSON.stringify(review({ uid: 'u3', kind: pod, operation: 'CREATE' })));
    // The logger of the test writes levels as numbers.
    expect(log).toMatchObject([
      { level: { debug: 20, info: 30 }[level], reason: 'because', ...(notable && { workload: notable }) },
    ]);
  });

  it('logs each answer with the names the documentation shows', async () => {
    answer = () => ({ allowed: true, code: 200, message: 'because' });
    await post(JSON.stringify(review({ uid: 'u2', kind: pod, operation: 'CREATE' })));
    expect(log.at(-1)).toMatchObject({
      msg: 'wrote response',
      webhook: '/v1alpha1/inject',
      code: 200,
      reason: 'because',
      UID: 'u2',
      allowed: true,
    });
  });

  it('D50: allows whatever it fails to review, and says why', async () => {
    answer = () => {
      throw new Error('a bug');
    };
    const { status, body } = await post(JSON.stringify(review({ uid: 'u3', kind: pod, operation: 'CREATE' })));
    expect(status).toBe(200);
    expect(body).toMatchObject({ response: { uid: 'u3', allowed: true, status: { code: 500 } } });
    expect(JSON.stringify(body)).toContain('a bug');
  });

  it.each([
    ['no JSON', 'nonsense', 400],
    ['an empty body', '', 400],
    ['JSON of another kind', '{"kind":"Pod"}', 400],
    ['a list', '[]', 400],
    ['a review without a request', JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }), 400],
    [
      'another version',
      JSON.stringify({ ...review({ uid: 'x', kind: pod }), apiVersion: 'admission.k8s.io/v1beta1' }),
      400,
    ],
    ['2 MB of another kind', `{"a":"${'x'.repeat(2 * 1024 * 1024)}"}`, 413],
    ['8 MB', `{"a":"${'x'.repeat(8 * 1024 * 1024)}"}`, 413],
  ])('answers %s with a 4xx and a sentence', async (_case, body, status) => {
    const answered = await post(body);
    expect(answered.status).toBe(status);
    expect((answered.body as { message: string }).message).toMatch(/\w+ \w+/);
  });

  it('answers another content type and an unknown path with a 4xx', async () => {
    expect((await post('{}', paths.inject, 'text/plain')).status).toBe(400);
    expect((await post('{}', '/elsewhere')).status).toBe(404);
  });

  const large = (object: unknown) =>
    JSON.stringify(review({ uid: 'u-1', kind: pod, operation: 'CREATE', object })).replace(
      '"request":{',
      '"request": {',
    );

  it('takes a review of a megabyte', async () => {
    answer = () => ({ allowed: true, code: 200, message: 'large' });
    expect((await post(large({ x: 'y'.repeat(1_000_000) }))).body).toMatchObject({
      response: { uid: 'u-1', allowed: true, status: { message: 'large' } },
    });
  });

  it.each([
    ['6 MB, the largest that an API server sends', { x: 'y'.repeat(6_000_000) }, '1048576 are read'],
    ['a megabyte of small values', Array.from({ length: 300_000 }, () => ({})), 'many small values'],
  ])('F21: lets %s through unread, with a warning', async (_case, object, why) => {
    answer = () => {
      throw new Error('it was reviewed');
    };
    const { status, body } = await post(large(object));
    expect(status).toBe(200);
    expect(body).toMatchObject({
      response: { uid: 'u-1', allowed: true, status: { code: 200 }, warnings: [expect.stringContaining(why)] },
    });
    expect(body).not.toHaveProperty('response.patch');
  });

  it('F21: has room for so many large bodies at once, and for small ones at all times', async () => {
    answer = () => ({ allowed: true, code: 200, message: 'fine' });
    const held = Array.from({ length: 8 }, () => begin(1024 * 1024));
    const refused = await eventually(async () => {
      const answered = await post(large({ x: 'y'.repeat(500_000) }));
      expect(answered.status).toBe(429);
      return answered;
    });
    expect(refused.body).toHaveProperty('message', expect.stringContaining('too many large reviews'));
    expect((await post(large({ x: 'y'.repeat(50_000) }))).status).toBe(200);
    for (const socket of held) socket.destroy();
    await eventually(async () => expect((await post(large({ x: 'y'.repeat(500_000) }))).status).toBe(200));
  });

  it('survives half a body', async () => {
    await new Promise<void>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(
          `POST ${paths.inject} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"half":`,
        );
        setTimeout(() => socket.destroy(), 50);
      });
      socket.on('close', () => resolve());
    });
    answer = () => ({ allowed: true, code: 200, message: 'alive' });
    expect((await post(JSON.stringify(review({ uid: 'after', kind: pod, operation: 'CREATE' })))).status).toBe(200);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { pino } from 'pino';
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
  server = createServer(createApp({ injector: () => answer(), lumigoes: () => answer(), logger }));
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

  it('takes a review of 6 MB, the largest that an API server can send', async () => {
    answer = () => ({ allowed: true, code: 200, message: 'large' });
    const body = JSON.stringify(
      review({ uid: 'big', kind: pod, operation: 'CREATE', object: { x: 'y'.repeat(6_000_000) } }),
    );
    expect((await post(body)).status).toBe(200);
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

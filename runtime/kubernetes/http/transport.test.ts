import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import { ConnectionError, isRefusal } from './errors.ts';
import { FencedError } from './exchange.ts';
import { createTransport, withBounds, type ApiRequest, type Transport } from './transport.ts';

let server: Server;
let transport: Transport;

beforeEach(async () => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask', 'performance'] });
  server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const connection = { server: new URL(`http://127.0.0.1:${port}`), headers: {}, authorization: async () => undefined };
  transport = createTransport(connection, { userAgent: 'test' });
});
afterEach(() => {
  jest.useRealTimers();
  transport.close();
  server.closeAllConnections();
  server.close();
});

/** The API server ends a write after 34 s. A webhook may take 30 s of them. */
async function answeredAfter(ms: number, method: ApiRequest['method']): Promise<unknown> {
  const failure = transport
    .request({ method, path: '/apis/apps/v1/namespaces/shop/deployments/cart' })
    .catch((e: unknown) => e);
  const [request, response] = await once(server, 'request');
  jest.advanceTimersByTime(ms);
  const message = 'Internal error occurred: failed calling webhook "slow.example.com": context deadline exceeded';
  const status = { kind: 'Status', status: 'Failure', code: 500, message };
  response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify(status));
  request.resume();
  return failure;
}

describe('a connection', () => {
  it('is not probed before it has been silent for 30 s, also when it is used again', async () => {
    const keepAlive = jest.spyOn(Socket.prototype, 'setKeepAlive');
    const ports: unknown[] = [];
    server.on('request', ({ socket }, response) => {
      ports.push(socket.remotePort);
      response.end();
    });
    for (let requests = 0; requests < 2; requests += 1) await transport.request({ method: 'GET', path: '/version' });
    expect(new Set(ports).size).toBe(1);
    expect(new Set(keepAlive.mock.calls.map(([, delayMs]) => delayMs))).toEqual(new Set([30_000]));
    keepAlive.mockRestore();
  });
});

describe('bounds of a transport', () => {
  it('send nothing if the fence throws, also over a connection that is used again', async () => {
    const paths: unknown[] = [];
    server.on('request', ({ url }, response) => {
      paths.push(url);
      response.end();
    });
    await transport.request({ method: 'GET', path: '/before' });
    const over = new FencedError('the term is over');
    const ask = () => {
      const term = new AbortController();
      const fence = () => {
        term.abort();
        throw over;
      };
      return withBounds(transport, { fence, signal: term.signal }).request({ method: 'GET', path: '/after' });
    };
    for (let requests = 0; requests < 2; requests += 1) await expect(ask()).rejects.toBe(over);
    expect(paths).toEqual(['/before']);
  });

  it("end all waits for a busy server, at a request's own limit if it has one", async () => {
    const times: number[] = [];
    server.on('request', (_request, response) => {
      times.push(performance.now());
      response.writeHead(429, { 'retry-after': '1' }).end();
    });
    const bounded = withBounds(transport, { maxWaitMs: 0 });
    const ask = (maxWaitMs?: number) => bounded.request({ method: 'POST', path: '/version', maxWaitMs });
    await expect(ask()).rejects.toMatchObject({ status: 429, retryAfterSeconds: 1 });
    expect(times).toHaveLength(1);
    await expect(ask(1_600)).rejects.toMatchObject({ status: 429 });
    expect(times).toHaveLength(3);
    const [, second = 0, third = 0] = times;
    expect(third - second).toBeGreaterThan(990);
  });
});

describe('an answer', () => {
  it('is an error if it is a redirect, which only something in front of the API server sends', async () => {
    server.on('request', (_request, response) => response.writeHead(302, { location: '/login' }).end('<html>'));
    const asked = transport.request({ method: 'GET', path: '/version' });
    await expect(asked).rejects.toThrow('with status 302 and no Kubernetes Status; check that no proxy answers');
  });

  it('is an error if its body is a failure: an eviction under two budgets has status 201', async () => {
    const status = { kind: 'Status', status: 'Failure', code: 500, message: 'more than one PodDisruptionBudget' };
    server.on('request', (_request, response) =>
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(status)),
    );
    const evicted = transport.request({ method: 'POST', path: '/api/v1/namespaces/shop/pods/cart/eviction' });
    await expect(evicted).rejects.toMatchObject({ name: 'ApiError', status: 500, message: status.message });
  });
});

describe('a request without a limit of its own', () => {
  it.each(['PATCH', 'PUT', 'POST', 'DELETE'] as const)(
    'by %s waits for the slowest refusal of a webhook',
    async (method) => {
      const failure = await answeredAfter(34_000, method);
      expect(failure).toMatchObject({ status: 500 });
      expect(isRefusal(failure)).toBe(true);
    },
  );

  it('by GET ends after 30 s, because no webhook delays it', async () => {
    expect(await answeredAfter(30_000, 'GET')).toBeInstanceOf(ConnectionError);
  });

  it('ends after 40 s, because the API server has ended it by then', async () => {
    expect(await answeredAfter(40_000, 'PATCH')).toBeInstanceOf(ConnectionError);
  });
});

import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { askEndpoint } from './ask-endpoint.ts';

let server: Server;
afterEach(() => void server?.close());

async function answering(listener: RequestListener): Promise<string> {
  server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const { signal } = new AbortController();

describe('the request to an endpoint about a token [F29]', () => {
  it('is an OTLP request without a span, and its status is the answer', async () => {
    const seen: object[] = [];
    const url = await answering((request, response) => {
      const { method, url: path, headers } = request;
      seen.push({ method, path, authorization: headers.authorization, type: headers['content-type'] });
      response.writeHead(401).end('a long answer'.repeat(10_000));
    });
    expect(await askEndpoint(url, 't_x', signal)).toBe(401);
    expect(seen).toEqual([
      { method: 'POST', path: '/v1/traces', authorization: 'LumigoToken t_x', type: 'application/x-protobuf' },
    ]);
  });

  it('does not follow a redirect', async () => {
    let requests = 0;
    const url = await answering((_request, response) => {
      requests += 1;
      response.writeHead(302, { location: '/elsewhere' }).end();
    });
    expect(await askEndpoint(url, 't_x', signal)).toBe(302);
    expect(requests).toBe(1);
  });

  it('has no result if the endpoint is down, is no address, or does not answer before the end', async () => {
    for (const down of ['http://127.0.0.1:9', 'http://10.0.0.300:4318', 'https://host:99999'])
      expect(await askEndpoint(down, 't_x', signal)).toBe(0);
    const stop = new AbortController();
    const url = await answering(() => stop.abort());
    expect(await askEndpoint(url, 't_x', stop.signal)).toBe(0);
    server.closeAllConnections();
  });
});

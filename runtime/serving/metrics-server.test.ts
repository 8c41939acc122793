import { afterEach, describe, expect, it } from '@jest/globals';
import { createServer, request, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerTo } from '../../sandbox/answer.ts';
import type { Verdict } from './scrape-access.ts';
import { scrapeListener } from './metrics-server.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Real pages have about 100 KB. */
const PAGE = 'otel 1\n'.repeat(150_000);
const registry = { metrics: () => Promise.resolve('up 1\n'), contentType: 'text/plain; version=0.0.4' };

async function scrapes(verdict: Verdict, telemetryProxy: RequestListener = (_asked, answer) => void answer.end(PAGE)) {
  const config = { telemetryMetricsPort: await serve(telemetryProxy) };
  return serve(scrapeListener({ config, registry, access: { judge: () => Promise.resolve(verdict) } }));
}

/** `fetch` would normalize the path. */
const ask = (port: number, path: string, method = 'GET') =>
  answerTo(request({ host: '127.0.0.1', port, path, method, headers: { authorization: 'Bearer token' } }).end());

const refused: Verdict = { status: 401, message: 'send a token' };

describe('a scrape', () => {
  it("returns the manager's metrics and, on another path, the telemetry proxy's", async () => {
    const port = await scrapes(undefined);
    expect(await ask(port, '/metrics')).toMatchObject({ status: 200, text: 'up 1\n' });
    expect(await ask(port, '/metrics/telemetry-proxy')).toMatchObject({ status: 200, text: PAGE });
  });

  it('returns neither if it is refused, but a sentence with the solution', async () => {
    const asked: string[] = [];
    const port = await scrapes(refused, (request) => void asked.push(request.url ?? ''));
    for (const path of ['/metrics', '/metrics/telemetry-proxy']) {
      const { status, headers, text } = await ask(port, path);
      expect([status, text]).toEqual([401, 'send a token\n']);
      expect(headers).toMatchObject({ 'www-authenticate': 'Bearer', connection: 'close' });
    }
    expect(asked).toEqual([]);
  });

  it.each(['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])(
    'is refused if it is a %s, with a hint to use GET',
    async (method) => {
      const { status, headers, text } = await ask(await scrapes(undefined), '/metrics', method);
      expect([status, headers['allow']]).toEqual([405, 'GET']);
      if (method !== 'HEAD') expect(text).toContain('send a GET');
    },
  );

  const up = ['/metrics/../metrics', '/metrics/telemetry-proxy/../../debug'];
  it.each(['/', '/healthz', '/metrics/', ...up, '/__proto__', '/constructor'])('finds nothing at %s', async (path) => {
    const { status, text } = await ask(await scrapes(undefined), path);
    expect([status, text]).toEqual([404, expect.stringContaining('get /metrics or /metrics/telemetry-proxy')]);
  });
});

describe("the telemetry proxy's metrics", () => {
  it('are replaced by a sentence if it is down, or answers otherwise', async () => {
    const access = { judge: () => Promise.resolve(undefined) };
    const down = await serve(scrapeListener({ config: { telemetryMetricsPort: 1 }, registry, access }));
    const failing = await scrapes(undefined, (_asked, answer) => void answer.writeHead(500).end('a secret'));
    for (const port of [down, failing])
      expect(await ask(port, '/metrics/telemetry-proxy')).toMatchObject({
        status: 502,
        text: 'cannot read the metrics of the telemetry proxy; see the log of its container\n',
      });
  });

  it('are cut off if they do not end', async () => {
    let sent = 0;
    const port = await scrapes(undefined, (_asked, answer) => {
      const more = () => {
        while (!answer.destroyed && answer.write(Buffer.alloc(64 * 1024, 'x'))) sent += 64 * 1024;
      };
      answer.on('drain', more);
      more();
    });
    await expect(ask(port, '/metrics/telemetry-proxy')).rejects.toThrow();
    expect(sent).toBeLessThan(32 * 1024 * 1024);
  });

  it("are requested without the scraper's headers, its token above all", async () => {
    const seen: unknown[] = [];
    const port = await scrapes(undefined, ({ headers }, answer) => {
      seen.push(headers);
      answer.end();
    });
    await ask(port, '/metrics/telemetry-proxy');
    expect(seen).toEqual([expect.not.objectContaining({ authorization: expect.anything() })]);
  });
});

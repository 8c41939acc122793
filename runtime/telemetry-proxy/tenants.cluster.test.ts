import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerTo } from '../../sandbox/answer.ts';
import { post, spanId, countSpans, startFlow } from '../../sandbox/otlp-sink/sender.ts';
import type { Collector } from '../../sandbox/manager/collector.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { alerts } from '../../infra/constructs/alerts.ts';
import { panels } from '../../infra/constructs/dashboard.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

let telemetry: TelemetryBench;
let namespace: string;
const getShard = (token: string): string =>
  createHash('sha256').update(`LumigoToken ${token}`).digest('hex').slice(0, 1);
// The second one has the shard of the first.
const [throttled = '', , refused = '', ...others] = Array.from({ length: 15 }, (_, index) =>
  getToken(0x7e_0000 + index),
);
const noisy = [throttled, refused];
const quiet = others.filter((token) => !noisy.map(getShard).includes(getShard(token))).slice(0, 8);

beforeAll(async () => {
  telemetry = await startTelemetry({
    controllerManager: false,
    config: { telemetryProxyQueueShardSize: '64Ki' },
  });
  for (const [index, token] of [...noisy, ...quiet].entries())
    namespace = await telemetry.activate(`tenant-${index}`, token, { infrastructure: { enabled: false } });
  await telemetry.waitForSettled();
});
afterAll(() => telemetry?.stop());

/** An SDK repeats a request without an answer, or that was refused for the moment. */
const sendLikeSdk = (url: string, body: object, token: string) =>
  eventually(async () => expect((await post(url, body, { token })).status).toBe(200)).catch(() => undefined);

/** Returns the milliseconds from the sending of each span until its arrival. Each quiet tenant sends five a second. */
async function delaysOfTheQuiet(seconds: number, first: number): Promise<number[]> {
  const { sink, collector } = telemetry;
  const sentAt = new Map<string, number>();
  for (let round = 0; round < seconds * 5; round += 1) {
    for (const [index, token] of quiet.entries()) {
      const id = spanId(first + round * quiet.length + index);
      sentAt.set(id, Date.now());
      void sendLikeSdk(`${collector().url}/v1/traces`, countSpans({ 'service.name': 'quiet' }, [id]), token);
    }
    await sleep(200);
  }
  const arrived = () =>
    new Map(sink.spans.map(({ item, at }) => [Buffer.from(item.spanId, 'base64').toString('hex'), at]));
  // The map is made once for all spans, because making it delays the sink, which is in this process.
  return eventually(
    () => {
      const at = arrived();
      const delays = [...sentAt].map(([id, sent]) => (at.get(id) ?? Infinity) - sent);
      expect(delays).not.toContain(Infinity);
      return delays.toSorted((a, b) => a - b);
    },
    { timeoutMs: 60_000, intervalMs: 500 },
  );
}

const readMetrics = async () =>
  (await fetch(`http://127.0.0.1:${telemetry.collector().telemetryMetricsPort}/metrics`)).text();

async function metricNames() {
  const metrics = await readMetrics();
  const asked = JSON.stringify([alerts, panels]).match(/otelcol_[a-z_]+/g) ?? [];
  return {
    served: [...metrics.matchAll(/^(otelcol_[a-z_]+){/gm)].map(([, name]) => name),
    asked: [...new Set(asked)].filter((name) => /_(spans|queue_size)$/.test(name)),
  };
}

describe('data of other shards is not delayed', () => {
  it('by a throttled token and a refused one, which together send 500 spans a second', async () => {
    const { sink, collector } = telemetry;
    sink.throttled.add(throttled);
    sink.refused.add(refused);
    const flow = startFlow(collector().url, noisy, 500);
    const shard = getShard(throttled);
    const queue = `exporter="otlphttp/lumigo${shard === '0' ? '' : `/${shard}`}"`;
    const isFull = new RegExp(`^otelcol_exporter_enqueue_failed_spans[a-z_]*{[^}]*${queue}[^}]*} [1-9]`, 'm');
    const delays = await eventually(async () => expect(await readMetrics()).toMatch(isFull))
      .then(() => delaysOfTheQuiet(5, 0x1_000_000))
      .finally(async () => {
        await flow.stop();
        sink.throttled.delete(throttled);
        sink.refused.delete(refused);
      });
    process.stderr.write(`      ${delays[delays.length >> 1]} ms (median), ${delays.at(-1)} ms (longest)\n`);
    expect(delays.at(-1)).toBeLessThan(10_000);
    // The proxy drops what exceeds the shard's queue, because waiting senders would fill the memory.
    expect([flow.refused(), Math.max(...flow.latencies) < 5_000]).toEqual([0, true]);
    expect(JSON.stringify(sink.received.map(({ resource }) => resource))).not.toContain('lumigo.shard');
  });

  // The collector serves a metric of refusals from the first refusal on.
  it('by then the collector serves each metric that alerts and dashboard ask for', async () => {
    const { served, asked } = await metricNames();
    expect(asked.length).toBe(6);
    expect(served).toEqual(expect.arrayContaining(asked));
  });
});

describe('a request with two tokens', () => {
  it('is dropped, and delays no other', async () => {
    const { url } = telemetry.collector();
    for (let index = 0; index < 300; index += 1) {
      const tokens = [`LumigoToken ${throttled}`, `another-${index}`].flatMap((token) => ['authorization', token]);
      const headers = ['host', 'proxy', 'content-type', 'application/json', ...tokens];
      const body = JSON.stringify(countSpans({ 'service.name': 'twice' }, [spanId(0x4_000_000 + index)]));
      const answer = await answerTo(request(`${url}/v1/traces`, { method: 'POST', headers }).end(body));
      expect(answer.status).toBe(200);
    }
    expect((await delaysOfTheQuiet(5, 0x3_000_000)).at(-1)).toBeLessThan(10_000);
    expect(JSON.stringify(telemetry.sink.received.map(({ resource }) => resource))).not.toContain('twice');
  });
});

describe('senders that do not finish their requests', () => {
  const head = 'POST /v1/traces HTTP/1.1\r\nhost: proxy\r\ncontent-length: 100000\r\n';
  const http = ({ url }: Collector) => Number(new URL(url).port);
  const grpc = ({ otlpGrpcPort }: Collector) => otlpGrpcPort;
  const loop = ({ telemetryLoopPort }: Collector) => telemetryLoopPort;
  const silent = '';
  let enabled = false;
  beforeAll(() => telemetry.activate('collected', getToken(0x7f_0000)));

  type Unfinished = readonly [port: (collector: Collector) => number, text: string];
  const overHttp: readonly Unfinished[] = [
    [http, silent],
    [http, head],
    [http, `${head}authorization: LumigoToken ${throttled}\r\n\r\n{`],
    [loop, silent],
  ];
  it.each<[string, readonly Unfinished[], number]>([
    // A body must arrive within 10 s, and then a reload may take 20 s.
    ['HTTP', overHttp, 30_000],
    ['gRPC', [[grpc, silent]], 45_000],
  ])('do not prevent the proxy from taking data again after a reload: %s', async (_how, unfinished, withinMs) => {
    const { collector, testCluster, waitForSettled } = telemetry;
    const before = await waitForSettled();
    enabled = !enabled;
    await testCluster.changeLumigo(namespace, { spec: { infrastructure: { enabled } } });
    // A reload starts only after a quiet period.
    const hanging = unfinished.map(([port, text]) => {
      const connection = connect(port(collector()), '127.0.0.1').on('error', () => undefined);
      connection.write(text);
      return connection;
    });
    const flow = startFlow(collector().url, [quiet[0] ?? ''], 100);
    try {
      await eventually(async () => expect(await waitForSettled()).toBeGreaterThan(before), { timeoutMs: 100_000 });
      await flow.stop();
      const longest = Math.max(...flow.latencies);
      process.stderr.write(`      acknowledged after ${longest} ms at most\n`);
      expect(longest).toBeLessThan(withinMs);
    } finally {
      for (const connection of hanging) connection.destroy();
    }
  });
});

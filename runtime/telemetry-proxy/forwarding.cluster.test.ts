import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, type Settings } from 'node:http2';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { labels, workloadKinds, type Signal } from '../contract.ts';
import { postByGrpc } from '../../sandbox/otlp-sink/grpc.ts';
import { toLog, toMetric, post, spanId, countSpans } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { createWorkload } from '../../sandbox/testing/workloads.ts';
import { toFile } from './types.ts';

let telemetry: TelemetryBench;
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
  await telemetry.activate('shop', getToken(1));
  await telemetry.activate('bank', getToken(2));
  for (const token of [getToken(1), getToken(2)]) await waitForStatus(token, 200);
  await telemetry.waitForSettled();
});
afterAll(() => telemetry?.stop());
afterEach(() => {
  telemetry.sink.mood = 'accept';
});

const { deployment } = workloadKinds;
const MIB = 1024 * 1024;
let counter = 0x1000;
const ids = (count: number): string[] => Array.from({ length: count }, () => spanId(counter++));

/** Retries without an answer as an SDK does, because a reload closes connections. */
const sendTo = (path: Signal, token: string | undefined, body: object) =>
  eventually(() => post(`${telemetry.collector().url}/v1/${path}`, body, { token }));

const send = (token: string | undefined, spans: readonly string[], resource: Readonly<Record<string, string>> = {}) =>
  sendTo('traces', token, countSpans({ 'service.name': 'test', ...resource }, spans));

const waitForStatus = (token: string, status: number) =>
  eventually(async () => expect((await send(token, ids(1))).status).toBe(status));

const arrived = (spans: readonly string[]) => {
  const wanted = new Set(spans);
  return telemetry.sink.spans.filter(({ item }) => wanted.has(Buffer.from(item.spanId, 'base64').toString('hex')));
};

const tokensOf = (spans: readonly string[]) => new Set(arrived(spans).map(({ authorization }) => authorization));
const only = (token: string) => new Set([`LumigoToken ${token}`]);

const waitForAll = (spans: readonly string[], timeoutMs = 10_000) =>
  eventually(() => expect(new Set(arrived(spans).map(({ item }) => item.spanId)).size).toBe(spans.length), {
    timeoutMs,
    intervalMs: 200,
  });

describe('senders', () => {
  it.each([
    ['none', undefined],
    ['an unknown one', getToken(999)],
    ['an empty one', ''],
  ])('with %s for a token are refused with 401', async (_case, token) => {
    expect((await send(token, ids(1))).status).toBe(401);
    expect((await sendTo('logs', token, toLog({}, 'x'))).status).toBe(401);
    expect((await sendTo('metrics', token, toMetric({}, 'x', 1))).status).toBe(401);
  });

  it('with the token of an active Lumigo are accepted, each under its own [D37]', async () => {
    const shop = ids(50);
    const bank = ids(50);
    expect((await send(getToken(1), shop)).status).toBe(200);
    expect((await send(getToken(2), bank)).status).toBe(200);
    await waitForAll([...shop, ...bank]);
    expect(tokensOf(shop)).toEqual(only(getToken(1)));
    expect(tokensOf(bank)).toEqual(only(getToken(2)));
  });

  it('with gRPC are accepted or refused by the same rules', async () => {
    const { otlpGrpcPort } = telemetry.collector();
    const spans = ids(5);
    for (const token of [undefined, getToken(999)])
      expect(await postByGrpc(otlpGrpcPort, countSpans({}, spans), token)).toMatchObject({ status: 16 });
    expect(await postByGrpc(otlpGrpcPort, countSpans({}, spans), getToken(2))).toMatchObject({ status: 0 });
    await waitForAll(spans);
    expect(tokensOf(spans)).toEqual(only(getToken(2)));
  });

  it('fill no more than 64 MiB by a connection with gRPC, which checks a token after the message', async () => {
    const session = connect(`http://127.0.0.1:${telemetry.collector().otlpGrpcPort}`);
    const [{ maxConcurrentStreams = Infinity }] = (await once(session, 'remoteSettings')) as [Settings];
    session.destroy();
    expect(maxConcurrentStreams * 4).toBeLessThanOrEqual(64);
  });

  it('can send large requests, and none that fills the memory when it is decompressed', async () => {
    const { collector } = telemetry;
    const large = ids(8);
    const text = 'x'.repeat(MIB / 2 - 10_000);
    expect((await sendTo('traces', getToken(1), countSpans({}, large, { text }))).status).toBe(200);
    await waitForAll(large);
    // An empty span of three bytes takes up to 200 in memory.
    const spans = `${'{},'.repeat((20 * MIB) / 3 - 100)}{}`;
    const refused = await fetch(`${collector().url}/v1/traces`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        authorization: `LumigoToken ${getToken(1)}`,
      },
      body: gzipSync(`{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`),
    });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining('too large')]);
    const [, peakKb] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${collector().pid()}/status`, 'utf8')) ?? [];
    expect(Number(peakKb) / 1_024).toBeLessThan(450);
  });

  it('can send logs as well', async () => {
    expect((await sendTo('logs', getToken(1), toLog({}, 'a line of the log'))).status).toBe(200);
    await eventually(() => {
      const line = telemetry.sink.received.find(({ item }) => 'body' in item && item.body === 'a line of the log');
      expect(line?.authorization).toBe(`LumigoToken ${getToken(1)}`);
    });
  });

  it('can send metrics as well, by HTTP and by gRPC', async () => {
    const { sink, collector } = telemetry;
    const byGrpc = (token?: string) =>
      postByGrpc(collector().otlpGrpcPort, toMetric({}, 'queue.length', 8), token, 'metrics');
    expect(await byGrpc()).toMatchObject({ status: 16 });
    expect(await byGrpc(getToken(2))).toMatchObject({ status: 0 });
    const unnamed = toMetric({ 'service.name': 'unknown_service:node' }, 'queue.length', 7);
    expect((await sendTo('metrics', getToken(1), unnamed)).status).toBe(200);
    await eventually(() => {
      const received = sink.received.filter(({ signal }) => signal === 'metrics');
      const sent = received.map(({ authorization, item }) => [authorization, item]);
      const metric = { name: 'queue.length', attributes: {} };
      expect(sent).toHaveLength(2);
      expect(sent).toContainEqual([`LumigoToken ${getToken(1)}`, { ...metric, value: 7 }]);
      expect(sent).toContainEqual([`LumigoToken ${getToken(2)}`, { ...metric, value: 8 }]);
      expect(received.every(({ resource }) => 'k8s.cluster.uid' in resource)).toBe(true);
      expect(JSON.stringify(received)).not.toContain('unknown_service');
    });
  });

  it('are accepted by the label of a single resource until that is removed, also beside a Lumigo', async () => {
    const { testCluster, waitForSettled } = telemetry;
    const namespace = await testCluster.namespace('single');
    await testCluster.secret(namespace, getToken(3), 'own');
    const own = { [labels.autoTrace]: 'true', [labels.tokenSecret]: 'own' };
    await testCluster.create(createWorkload(deployment, namespace, 'app', { labels: own }));
    await waitForStatus(getToken(3), 200);
    // Its Secret does not exist, so it changes no workload.
    await testCluster.lumigo(namespace);
    await testCluster.waitForCondition(namespace, 'Error', { reason: 'SecretNotFound' });
    await waitForSettled();
    expect((await send(getToken(3), ids(1))).status).toBe(200);
    await testCluster.client.delete({ ...deployment, namespace, name: 'app' });
    await waitForStatus(getToken(3), 401);
  });

  it('start and end without a reload while nothing is collected for them', async () => {
    const { activate, waitForSettled } = telemetry;
    const before = await waitForSettled();
    await activate('quiet', getToken(6), { infrastructure: { enabled: false } });
    await waitForStatus(getToken(6), 200);
    expect(await waitForSettled()).toBe(before);
  });
});

function notOnDisk(spans: readonly string[]): readonly string[] {
  const { telemetryProxyQueueDirectory: folder } = telemetry.collector();
  const queues = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  return spans.filter((span) => !queues.some((queue) => queue.includes(Buffer.from(span, 'hex'))));
}

describe('no data is lost', () => {
  it('while Lumigo is down for 30 s, the collector reloads and restarts, and a token is refused', async () => {
    const { sink, collector, activate, testCluster } = telemetry;
    const { port } = sink;
    await sink.close();
    const back = performance.now() + 30_000;
    const reloads = await telemetry.countReloads();
    const early = ids(100);
    expect((await send(getToken(1), early)).status).toBe(200);
    const namespace = await activate('meanwhile', getToken(8));
    await eventually(async () => expect(await telemetry.countReloads()).toBeGreaterThan(reloads), {
      timeoutMs: 60_000,
    });
    const later = ids(100);
    await eventually(async () => expect((await send(getToken(2), later)).status).toBe(200));
    // Acknowledged data is on disk a fifth of a second later.
    await eventually(() => expect(notOnDisk(later)).toEqual([]));
    const restarts = collector().restarts();
    process.kill(collector().pid(), 'SIGKILL');
    await eventually(() => expect(collector().restarts()).toBe(restarts + 1));
    await waitForStatus(getToken(1), 200);
    const last = ids(100);
    expect((await send(getToken(1), last)).status).toBe(200);
    await sleep(back - performance.now());
    await sink.listen(port);
    await waitForAll([...early, ...later, ...last], 30_000);
    expect(tokensOf(later)).toEqual(only(getToken(2)));
    await testCluster.deleteLumigo(namespace);
  });

  it('at a reload while the endpoint accepts requests and does not answer, which takes one kill', async () => {
    const { activate, sink, collector, testCluster, waitForSettled, waitForCollecting } = telemetry;
    const injection = { tracing: { injection: { enabled: false } } };
    /** Seven of the sixteen shards. */
    const tokens = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => getToken(0x90_00 + index));
    const quiet = { ...injection, infrastructure: { enabled: false } };
    await Promise.all(tokens.map((token, index) => activate(`quiet-${index}`, token, quiet)));
    await waitForSettled();
    sink.mood = 'hang';
    const sent = ids(tokens.length);
    // The collector ends one exporter after the other, and each waits for its own request.
    for (const [index, id] of sent.entries()) {
      await sleep(1_200);
      expect((await send(tokens[index], [id])).status).toBe(200);
      expect((await sendTo('logs', tokens[index], toLog({}, id))).status).toBe(200);
    }
    const reloads = await waitForSettled();
    const restarts = collector().restarts();
    const waits = new Set<boolean>();
    const reading = setInterval(() => {
      const text = readFileSync(toFile(collector(), 'configuration'), 'utf8');
      if (text.includes('k8sobjects')) waits.add(text.includes('wait_for_metadata'));
    }, 50);
    const namespace = await activate('outage', getToken(0x91_00), injection);
    await eventually(async () => expect(await telemetry.countReloads()).toBe(reloads + 1), {
      timeoutMs: 60_000,
    }).finally(() => clearInterval(reading));
    // Its pods were listed in time, so also the next process waits for them.
    expect([...waits]).toEqual([true]);
    await testCluster.waitForCondition(namespace, 'TelemetryProxyReady', { status: 'True' });
    expect(await waitForSettled()).toBe(reloads + 1);
    expect(collector().restarts()).toBe(restarts + 1);
    sink.mood = 'accept';
    await waitForCollecting(namespace);
    await waitForAll(sent, 60_000);
  });
});

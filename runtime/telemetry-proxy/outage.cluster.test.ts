import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { countSpans, post, spanId, toLog } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

let telemetry: TelemetryBench;
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
});
afterAll(() => telemetry?.stop());

/** Seven of the sixteen shards. */
const tokens = [1, 2, 3, 4, 5, 6, 7, 8].map((index) => getToken(0x90_00 + index));
const ids = tokens.map((_, index) => spanId(0x90_00 + index));
const injection = { tracing: { injection: { enabled: false } } };

async function send(token: string, id: string): Promise<void> {
  const { url } = telemetry.collector();
  expect(await post(`${url}/v1/traces`, countSpans({}, [id]), { token })).toMatchObject({ status: 200 });
  expect(await post(`${url}/v1/logs`, toLog({}, id), { token })).toMatchObject({ status: 200 });
}

function getMissing(): readonly string[] {
  const { spans } = telemetry.sink;
  const arrived = new Set(spans.map(({ item }) => Buffer.from(item.spanId, 'base64').toString('hex')));
  return ids.filter((id) => !arrived.has(id));
}

describe('a reload while the endpoint accepts requests and does not answer', () => {
  it('succeeds after one kill, and loses no data', async () => {
    const { activate, sink, collector, metric, testCluster, waitForSettled, waitForCollecting } = telemetry;
    const quiet = { ...injection, infrastructure: { enabled: false } };
    for (const [index, token] of tokens.entries()) await activate(`quiet-${index}`, token, quiet);
    await waitForSettled();
    sink.mood = 'hang';
    // The collector ends one exporter after the other, and each waits for its own request.
    for (const [index, id] of ids.entries()) await sleep(1_200).then(() => send(tokens[index] ?? '', id));
    const [reloads, restarts] = [await waitForSettled(), collector().restarts()];
    const namespace = await activate('outage', getToken(0x91_00), injection);
    await eventually(
      async () => expect(await metric('lumigo_operator_telemetry_proxy_reloads_total')).toBe(reloads + 1),
      { timeoutMs: 60_000 },
    );
    await testCluster.waitForCondition(namespace, 'TelemetryProxyReady', { status: 'True' });
    expect(await waitForSettled()).toBe(reloads + 1);
    expect(collector().restarts()).toBe(restarts + 1);
    sink.mood = 'accept';
    await waitForCollecting(namespace);
    await eventually(() => expect(getMissing()).toEqual([]), { timeoutMs: 60_000 });
  });
});

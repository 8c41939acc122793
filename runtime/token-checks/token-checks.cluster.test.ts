import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { post, spanId, countSpans } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

let telemetry: TelemetryBench;
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
});
afterAll(() => telemetry?.stop());

/** Retries without an answer as an SDK does, because a reload closes connections. */
const send = async (token: string): Promise<number> =>
  (await eventually(() => post(`${telemetry.collector().url}/v1/traces`, countSpans({}, [spanId(7)]), { token })))
    .status;

async function getCondition(namespace: string, type: string) {
  const { status } = await telemetry.testCluster.readLumigo(namespace);
  return status?.conditions?.find((condition) => condition.type === type);
}

const waitForValue = (namespace: string, type: string, expected: object, timeoutMs = 30_000) =>
  eventually(async () => expect(await getCondition(namespace, type)).toMatchObject(expected), { timeoutMs });

const getEvents = async (namespace: string, reason: string) =>
  (await telemetry.testCluster.events(namespace, 'lumigo')).filter((event) => event.reason === reason);

async function everythingSaid(namespace: string): Promise<string> {
  const { manager, testCluster } = telemetry;
  const metrics = await (await fetch(`http://127.0.0.1:${manager().metricsPort}/metrics`)).text();
  const said = [await testCluster.readLumigo(namespace), await testCluster.events(namespace, 'lumigo')];
  return `${readFileSync(manager().logFile, 'utf8')}${metrics}${JSON.stringify(said)}`;
}

describe('a token that Lumigo refuses [F29]', () => {
  it('is reported in the Lumigo that names it, until Lumigo accepts it', async () => {
    const { activate, sink, metric } = telemetry;
    sink.refused.add(getToken(2));
    const shop = await activate('shop', getToken(1));
    const bank = await activate('bank', getToken(2));
    await waitForValue(bank, 'TokenAccepted', { status: 'False', reason: 'TokenRefused' });
    expect(await metric('lumigo_operator_refused_tokens')).toBe(1);
    await eventually(async () => expect(await getEvents(bank, 'LumigoTokenRefused')).toHaveLength(1));
    await waitForValue(shop, 'TokenAccepted', { status: 'True', reason: 'Accepted' });
    expect(await getCondition(bank, 'Active')).toMatchObject({ status: 'True' });

    const before = sink.answered[401] ?? 0;
    expect(await send(getToken(2))).toBe(200);
    await eventually(() => expect(sink.answered[401]).toBeGreaterThan(before));
    expect(await everythingSaid(bank)).not.toContain(getToken(2));

    sink.refused.clear();
    await waitForValue(bank, 'TokenAccepted', { status: 'True', reason: 'Accepted' }, 75_000);
    expect(await metric('lumigo_operator_refused_tokens')).toBe(0);
    expect(await getEvents(bank, 'LumigoTokenRefused')).toHaveLength(1);
    expect(await getEvents(shop, 'LumigoTokenRefused')).toEqual([]);
  }, 120_000);
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { post, spanId, spansOf } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, tokenOf, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

let telemetry: TelemetryBench;
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
});
afterAll(() => telemetry?.stop());

/** Retries without an answer as an SDK does, because a reload closes connections. */
const send = async (token: string): Promise<number> =>
  (await eventually(() => post(`${telemetry.collector().url}/v1/traces`, spansOf({}, [spanId(7)]), { token }))).status;

async function conditionOf(namespace: string, type: string) {
  const { status } = await telemetry.bench.readLumigo(namespace);
  return status?.conditions?.find((condition) => condition.type === type);
}

const whenIs = (namespace: string, type: string, expected: object, timeoutMs = 30_000) =>
  eventually(async () => expect(await conditionOf(namespace, type)).toMatchObject(expected), { timeoutMs });

const eventsOf = async (namespace: string, reason: string) =>
  (await telemetry.bench.events(namespace, 'lumigo')).filter((event) => event.reason === reason);

async function everythingSaid(namespace: string): Promise<string> {
  const { manager, bench } = telemetry;
  const metrics = await (await fetch(`http://127.0.0.1:${manager().metricsPort}/metrics`)).text();
  const said = [await bench.readLumigo(namespace), await bench.events(namespace, 'lumigo')];
  return `${readFileSync(manager().logFile, 'utf8')}${metrics}${JSON.stringify(said)}`;
}

describe('a token that Lumigo refuses [F29]', () => {
  it('is reported in the Lumigo that names it, until Lumigo accepts it', async () => {
    const { activate, sink, metric } = telemetry;
    sink.refused.add(tokenOf(2));
    const shop = await activate('shop', tokenOf(1));
    const bank = await activate('bank', tokenOf(2));
    await whenIs(bank, 'TokenAccepted', { status: 'False', reason: 'TokenRefused' });
    expect(await metric('lumigo_operator_refused_tokens')).toBe(1);
    await eventually(async () => expect(await eventsOf(bank, 'LumigoTokenRefused')).toHaveLength(1));
    expect(await conditionOf(shop, 'TokenAccepted')).toBeUndefined();
    expect(await conditionOf(bank, 'Active')).toMatchObject({ status: 'True' });

    const before = sink.answered[401] ?? 0;
    expect(await send(tokenOf(2))).toBe(200);
    await eventually(() => expect(sink.answered[401]).toBeGreaterThan(before));
    expect(await everythingSaid(bank)).not.toContain(tokenOf(2));

    sink.refused.clear();
    await whenIs(bank, 'TokenAccepted', { status: 'True', reason: 'Accepted' }, 75_000);
    expect(await metric('lumigo_operator_refused_tokens')).toBe(0);
    expect(await eventsOf(bank, 'LumigoTokenRefused')).toHaveLength(1);
    expect(await eventsOf(shop, 'LumigoTokenRefused')).toEqual([]);
  }, 120_000);
});

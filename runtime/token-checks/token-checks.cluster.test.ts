import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { environment } from '../contract.ts';
import { post, spanId, spansOf } from '../../sandbox/otlp-sink/sender.ts';
import { operatorRequests } from '../../sandbox/testing/audit.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { startTelemetry, tokenOf, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { podOf } from '../../sandbox/testing/workloads.ts';

/** What becomes of tokens, with a real collector and a sink that refuses some of them. */
let telemetry: TelemetryBench;
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false, audit: true });
});
afterAll(() => telemetry?.stop());

const pods = { group: '', version: 'v1', plural: 'pods' };

/** Again while there is no answer, as an SDK does: a reload cuts connections off. */
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

const looks = (): number =>
  operatorRequests(telemetry.cluster, telemetry.installation, 'telemetryProxy').filter(
    ({ objectRef, requestURI }) => objectRef?.resource === 'pods' && requestURI.includes('phase'),
  ).length;

/** Everything that anybody could read of the operator: its log, its metrics, a Lumigo and its events. */
async function everythingSaid(namespace: string): Promise<string> {
  const { manager, bench } = telemetry;
  const metrics = await (await fetch(`http://127.0.0.1:${manager().metricsPort}/metrics`)).text();
  const said = [await bench.readLumigo(namespace), await bench.events(namespace, 'lumigo')];
  return `${readFileSync(manager().logFile, 'utf8')}${metrics}${JSON.stringify(said)}`;
}

describe('F29: a token that Lumigo refuses', () => {
  it('shows at the Lumigo whose it is, until it is taken', async () => {
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

/** A pod that was injected, and runs since then. */
async function runningPod(namespace: string, since: Date): Promise<void> {
  const pod = podOf(namespace, 'cart');
  const secretKeyRef = { name: 'lumigo-credentials', key: 'token' };
  const env = [{ name: environment.token, valueFrom: { secretKeyRef } }];
  await telemetry.bench.create({ ...pod, spec: { containers: [{ name: 'app', image: 'app:1', env }] } } as never);
  await startedAt(namespace, since);
}

async function startedAt(namespace: string, since: Date): Promise<void> {
  const running = { startedAt: since.toISOString().replace(/\.\d+/, '') };
  const app = { name: 'app', image: 'app:1', imageID: '', ready: true, restartCount: 0, state: { running } };
  const body = { status: { phase: 'Running', containerStatuses: [app] } };
  await telemetry.cluster.client.patch(
    { ...pods, namespace, name: 'cart', subresource: 'status' },
    { kind: 'merge', body },
  );
}

describe('F29: a pod that goes on with a token which was replaced', () => {
  let namespace = '';
  const AN_HOUR = 3_600_000;

  it('costs no request for pods as long as none was', async () => {
    namespace = await telemetry.activate('rotated', tokenOf(3));
    await runningPod(namespace, new Date(Date.now() - AN_HOUR));
    await eventually(async () => expect(await send(tokenOf(3))).toBe(200));
    expect(looks()).toBe(0);
  });

  it('shows at its Lumigo, once as an event, while its token is let in still', async () => {
    const { bench, metric } = telemetry;
    await bench.secret(namespace, tokenOf(4));
    await whenIs(namespace, 'TokenCurrent', { status: 'False', reason: 'FormerTokenInUse' });
    expect((await conditionOf(namespace, 'TokenCurrent'))?.message).toMatch(
      /^1 pod started before .*. Restart Pod\/cart$/,
    );
    expect(await metric('lumigo_operator_former_token_pods')).toBe(1);
    expect(await send(tokenOf(3))).toBe(200);
    await eventually(async () => expect(await eventsOf(namespace, 'LumigoFormerTokenInUse')).toHaveLength(1));
  }, 60_000);

  it('shows under the next leader as well, which answers it with 401', async () => {
    await telemetry.stopManager();
    await telemetry.startManager();
    await eventually(async () => expect(await send(tokenOf(4))).toBe(200));
    expect(await send(tokenOf(3))).toBe(401);
    await eventually(async () => expect(await telemetry.metric('lumigo_operator_former_token_pods')).toBe(1), {
      timeoutMs: 30_000,
    });
    expect(await conditionOf(namespace, 'TokenCurrent')).toMatchObject({ status: 'False' });
    expect(await eventsOf(namespace, 'LumigoFormerTokenInUse')).toHaveLength(1);
  }, 60_000);

  it('is forgotten once it has started anew', async () => {
    await startedAt(namespace, new Date(Date.now() + 1_000));
    await whenIs(namespace, 'TokenCurrent', { status: 'True', reason: 'Current' });
    expect(await telemetry.metric('lumigo_operator_former_token_pods')).toBe(0);
    const said = await everythingSaid(namespace);
    for (const token of [tokenOf(3), tokenOf(4)]) expect(said).not.toContain(token);
  }, 60_000);
});

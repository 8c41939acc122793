import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getEvent, startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { aborted } from '../async/aborted.ts';
import { initialMs } from './plan-reload.ts';

let telemetry: TelemetryBench;
let proxy: ApiProxy;
beforeAll(async () => {
  const through = async (cluster: ControlPlane) => (proxy = await startApiProxy(cluster)).server;
  telemetry = await startTelemetry({ controllerManager: false, through });
});
afterEach(() => {
  proxy.interfere = undefined;
});
afterAll(async () => {
  await telemetry?.stop();
  await proxy?.close();
});

const PROBE_MS = 20;
const injection = { tracing: { injection: { enabled: false } } };

function isReceiving(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });
}

/** Measures from the beginning of an interruption to that of another one, because a rest follows each. */
async function interruptedShare(atLeastMs: number): Promise<number> {
  const port = Number(new URL(telemetry.collector().url).port);
  let refused = 0;
  let before = true;
  let began = undefined as number | undefined;
  let last = Date.now();
  for (const end = Date.now() + 4 * atLeastMs; Date.now() < end; await sleep(PROBE_MS)) {
    const isRefused = !(await isReceiving(port));
    const now = Date.now();
    const begins = isRefused && !before;
    // The last probe tells the state since then. Probes are fewer while this process is busy.
    if (began !== undefined && before) refused += now - last;
    [before, last] = [isRefused, now];
    if (begins && began !== undefined && now - began >= atLeastMs) return refused / (now - began);
    if (begins) began ??= now;
  }
  throw new Error('the attack interrupted nothing twice');
}

const toggle = (namespace: string, enabled: boolean) =>
  telemetry.testCluster.changeLumigo(namespace, { spec: { infrastructure: { enabled } } });

const getEvents = (namespace: string): string[] =>
  telemetry.sink.objects
    .filter((object) => object.namespace === namespace && object.resource === 'events')
    .map(({ object }) => String(object.metadata.name));

const countCuts = (): number =>
  readFileSync(telemetry.manager().logFile, 'utf8').split('stopped collecting a namespace').length - 1;

describe('a renewal whose first requests fail', () => {
  it('ends no collection, interrupts no sender for that, and sends no object twice', async () => {
    const { activate, manager, metric, testCluster, waitForSettled, waitForCollecting } = telemetry;
    const namespace = await activate('renewed', getToken(0x74_00), injection);
    await waitForCollecting(namespace);
    const before = await waitForSettled();
    // An interrupted list begins again.
    await sleep(initialMs(1));
    telemetry.sink.received.length = 0;
    let refused = 0;
    proxy.interfere = ({ path }) =>
      /\/events\?.*limit=1(&|$)/.test(path) && (refused += 1) === 1 ? { answer: 500 } : undefined;
    expect(proxy.cutWatches((path) => path.includes('/lumigoes'))).toBeGreaterThan(0);
    await eventually(
      async () => expect(await metric('lumigo_operator_telemetry_proxy_reloads_total')).toBe(before + 1),
      { timeoutMs: 60_000 },
    );
    expect(refused).toBe(2);
    expect(await manager().metric('lumigo_operator_telemetry_proxy_reloads_total', 'outcome="failed"')).toBe(0);
    expect(await testCluster.condition(namespace, 'TelemetryProxyReady')).toMatchObject({ status: 'True' });
    await testCluster.create(getEvent(namespace, 'renewed'));
    await eventually(() => expect(getEvents(namespace)).toContain('renewed'));
    expect(getEvents(namespace)).toEqual(['renewed']);
  });
});

describe('ten namespaces that toggle collection as fast as they can', () => {
  it('interrupt the collector for at most a fourth of the time [F75]', async () => {
    const { activate, waitForSettled } = telemetry;
    const restless: string[] = [];
    for (let index = 0; index < 10; index += 1)
      restless.push(await activate(`restless-${index}`, getToken(0x75_01 + index), injection));
    await waitForSettled();
    const running = new AbortController();
    const attack = async () => {
      while (!running.signal.aborted) {
        for (const name of restless) await toggle(name, false).then(() => sleep(900));
        for (const name of restless) await toggle(name, true);
      }
    };
    const attacked = attack();
    const share = await interruptedShare(30_000).finally(() => running.abort());
    await attacked;
    process.stderr.write(`      interrupted for ${Math.round(share * 100)} % of the time\n`);
    expect(share).toBeGreaterThan(0);
    expect(share).toBeLessThanOrEqual(0.25);
  });
});

describe('a namespace whose collection ends while the collector is not reloaded', () => {
  it('sends nothing from then on, while the other namespaces lose no event [F75]', async () => {
    const { activate, testCluster, collector, waitForSettled, waitForCollecting, metric } = telemetry;
    const ended = await activate('ended', getToken(0x76_00));
    const kept = await activate('kept', getToken(0x76_01));
    const another = await activate('another', getToken(0x76_02), { infrastructure: { enabled: false } });
    for (const namespace of [ended, kept]) await waitForCollecting(namespace);
    await waitForSettled();
    const reloads = () => metric('lumigo_operator_telemetry_proxy_reloads_total');
    const before = await reloads();
    await toggle(another, true);
    // A reload waits for the head of a request, for 3 s. After it, the collector is not reloaded for three times as long.
    const heads: Socket[] = [];
    const hang = (): void => {
      const head = connect(Number(new URL(collector().url).port), '127.0.0.1').on('error', () => undefined);
      head.write('POST /v1/traces HTTP/1.1\r\n');
      heads.push(head);
    };
    // The reload may have to rest first, and must meet a young head.
    const hanging = setInterval(hang, 500);
    const reloaded = eventually(async () => expect(await reloads()).toBe(before + 1), {
      timeoutMs: 60_000,
      intervalMs: 20,
    });
    await reloaded.finally(() => clearInterval(hanging));
    for (const head of heads) head.destroy();
    const cuts = countCuts();
    await toggle(ended, false);
    await eventually(() => expect(countCuts()).toBe(cuts + 1));
    const names = Array.from({ length: 20 }, (_, index) => `after-${index}`);
    await Promise.all(
      names.flatMap((name) => [ended, kept].map((namespace) => testCluster.create(getEvent(namespace, name)))),
    );
    expect(await reloads()).toBe(before + 1);
    // After a cut, nothing is collected until the next reload, which rests for three times the duration of the last one.
    await waitForSettled();
    await eventually(() => expect(getEvents(kept)).toEqual(expect.arrayContaining(names)));
    expect(getEvents(ended).filter((name) => names.includes(name))).toEqual([]);
  });
});

describe('a namespace that is collected while others toggle', () => {
  it('loses no event at a reload', async () => {
    const { activate, waitForSettled, waitForCollecting, testCluster, metric } = telemetry;
    const busy = await activate('busy', getToken(0x78_00));
    const other = await activate('other', getToken(0x78_01));
    for (const namespace of [busy, other]) await waitForCollecting(namespace);
    const before = await waitForSettled();
    // From then on no reload lists the events again, so only the watches send them.
    await sleep(initialMs(2));
    const names: string[] = [];
    const running = new AbortController();
    const create = async (): Promise<void> => {
      for (let index = 0; !running.signal.aborted; index = names.push(`steady-${index}`))
        await Promise.all([testCluster.create(getEvent(busy, `steady-${index}`)), sleep(10)]);
    };
    const creating = create();
    const reloads = () => metric('lumigo_operator_telemetry_proxy_reloads_total');
    for (let index = 1; index <= 6; index += 1) {
      await toggle(other, index % 2 === 0);
      await eventually(async () => expect(await reloads()).toBeGreaterThanOrEqual(before + index), {
        timeoutMs: 60_000,
      });
    }
    running.abort();
    await creating;
    await waitForSettled();
    const arrived = getEvents(busy);
    // The watch keeps the order: what was created before the marker arrives before it, or is lost.
    telemetry.sink.received.length = 0;
    await waitForCollecting(busy);
    await eventually(() => {
      const sent = new Set([...arrived, ...getEvents(busy)]);
      expect(names.filter((name) => !sent.has(name))).toEqual([]);
    });
  });
});

describe('a reload that fails', () => {
  it('loses no change of the namespaces that were collected before', async () => {
    const { activate, manager, testCluster, waitForSettled, waitForCollecting } = telemetry;
    const namespace = await activate('unbroken', getToken(0x79_00));
    const another = await activate('added', getToken(0x79_01), { infrastructure: { enabled: false } });
    await waitForCollecting(namespace);
    await waitForSettled();
    const failures = () => manager().metric('lumigo_operator_telemetry_proxy_reloads_total', 'outcome="failed"');
    const before = await failures();
    // The collector exits if it cannot read which kinds there are.
    proxy.interfere = ({ path }) => (/^\/apis?([?]|$)/.test(path) ? { answer: 500 } : undefined);
    await toggle(another, true);
    await eventually(async () => expect(await failures()).toBe(before + 1), { timeoutMs: 60_000 });
    // No list shows an event that is deleted before.
    await testCluster.create(getEvent(namespace, 'brief'));
    await testCluster.client.delete({ group: '', version: 'v1', plural: 'events', namespace, name: 'brief' });
    proxy.interfere = undefined;
    await waitForSettled();
    await eventually(() => expect(getEvents(namespace)).toContain('brief'));
  });
});

describe('a namespace whose collection ends while a reload waits for the API server', () => {
  it('sends nothing from then on, also after the reload [F75]', async () => {
    const { activate, testCluster, waitForSettled, waitForCollecting } = telemetry;
    const ended = await activate('ends', getToken(0x77_00));
    const kept = await activate('stays', getToken(0x77_01));
    const another = await activate('begins', getToken(0x77_02), { infrastructure: { enabled: false } });
    for (const namespace of [ended, kept]) await waitForCollecting(namespace);
    await waitForSettled();
    let held = 0;
    const answers = new AbortController();
    proxy.interfere = ({ path, isWatch }) => {
      if (isWatch || !path.includes('limit=1')) return undefined;
      held += 1;
      return { holdAnswer: () => aborted(answers.signal) };
    };
    await toggle(another, true);
    await eventually(() => expect(held).toBeGreaterThan(0), { timeoutMs: 60_000 });
    const cuts = countCuts();
    await toggle(ended, false);
    await eventually(() => expect(countCuts()).toBe(cuts + 1)).finally(() => answers.abort());
    await waitForCollecting(another);
    const names = Array.from({ length: 20 }, (_, index) => `waited-${index}`);
    await Promise.all(
      names.flatMap((name) => [ended, kept].map((namespace) => testCluster.create(getEvent(namespace, name)))),
    );
    await waitForSettled();
    await eventually(() => expect(getEvents(kept)).toEqual(expect.arrayContaining(names)));
    expect(getEvents(ended).filter((name) => names.includes(name))).toEqual([]);
  });
});

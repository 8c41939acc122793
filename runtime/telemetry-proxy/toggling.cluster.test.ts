import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getEvent, startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { getPod } from '../../sandbox/testing/workloads.ts';
import { aborted } from '../async/aborted.ts';
import { orUndefined } from '../json/values.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { initialMs, restMs, retryMs } from './plan-reload.ts';

let telemetry: TelemetryBench;
let proxy: ApiProxy;
/** These are collected at first. */
let kept = '';
let endsFirst = '';
let endsLater = '';
beforeAll(async () => {
  const through = async (cluster: ControlPlane) => (proxy = await startApiProxy(cluster));
  telemetry = await startTelemetry({ controllerManager: false, through });
  kept = await telemetry.activate('kept', getToken(0x74_00));
  endsFirst = await telemetry.activate('ends-first', getToken(0x74_01));
  endsLater = await telemetry.activate('ends-later', getToken(0x74_02));
  for (const namespace of [kept, endsFirst, endsLater]) await telemetry.waitForCollecting(namespace);
  await telemetry.waitForSettled();
  // From then on no reload lists their events again, so only the watches send them.
  await sleep(initialMs(3));
});
afterEach(() => {
  proxy.interfere = undefined;
});
afterAll(async () => {
  await telemetry?.stop();
});

const collects = (enabled: boolean) => ({ infrastructure: { enabled } });

const toggle = (namespace: string, enabled: boolean) =>
  telemetry.testCluster.changeLumigo(namespace, { spec: collects(enabled) });

const getEvents = (namespace: string): string[] =>
  telemetry.sink.objects
    .filter((object) => object.namespace === namespace && object.resource === 'events')
    .map(({ object }) => String(object.metadata.name));

const countFailures = () => telemetry.countReloads('outcome="failed"');

const waitForReloads = (count: number, timeoutMs = 60_000) =>
  eventually(async () => expect(await telemetry.countReloads()).toBe(count), { timeoutMs, intervalMs: 200 });

const countCuts = (): number =>
  readFileSync(telemetry.manager().logFile, 'utf8').split('stopped collecting a namespace').length - 1;

async function cutOff(namespace: string): Promise<void> {
  const cuts = countCuts();
  await toggle(namespace, false);
  await eventually(() => expect(countCuts()).toBe(cuts + 1));
}

async function expectEventsOfKeptAlone(ended: string, prefix: string): Promise<void> {
  const names = Array.from({ length: 20 }, (_, index) => `${prefix}-${index}`);
  const events = names.flatMap((name) => [getEvent(ended, name), getEvent(kept, name)]);
  await Promise.all(events.map((event) => telemetry.testCluster.create(event)));
  // After a cut, nothing is collected until the next reload, which rests for three times the duration of the last one.
  await telemetry.waitForSettled();
  await eventually(() => expect(getEvents(kept)).toEqual(expect.arrayContaining(names)));
  expect(getEvents(ended).filter((name) => names.includes(name))).toEqual([]);
}

it('a renewal whose first request fails ends no collection, and sends no object twice', async () => {
  const { testCluster } = telemetry;
  const before = await telemetry.countReloads();
  telemetry.sink.received.length = 0;
  let requests = 0;
  proxy.interfere = ({ path }) =>
    /\/events\?.*limit=1(&|$)/.test(path) && (requests += 1) === 1 ? { answer: 500 } : undefined;
  expect(proxy.cutWatches((path) => path.includes('/lumigoes'))).toBeGreaterThan(0);
  await waitForReloads(before + 1);
  expect(requests).toBe(2);
  expect(await countFailures()).toBe(0);
  expect(await testCluster.condition(kept, 'TelemetryProxyReady')).toMatchObject({ status: 'True' });
  await testCluster.create(getEvent(kept, 'renewed'));
  await eventually(() => expect(getEvents(kept)).toContain('renewed'));
  expect(getEvents(kept)).toEqual(['renewed']);
});

describe('a namespace that is collected while another one toggles', () => {
  it('loses no event at a reload', async () => {
    const { activate, testCluster, waitForCollecting, waitForSettled } = telemetry;
    const another = await activate('toggled', getToken(0x74_03), collects(false));
    const before = await waitForSettled();
    const names: string[] = [];
    const running = new AbortController();
    const create = async (): Promise<void> => {
      for (let index = 0; !running.signal.aborted; index = names.push(`steady-${index}`))
        await Promise.all([testCluster.create(getEvent(kept, `steady-${index}`)), sleep(10)]);
    };
    const creating = create();
    for (let index = 1; index <= 4; index += 1) {
      await toggle(another, index % 2 === 1);
      await eventually(async () => expect(await telemetry.countReloads()).toBeGreaterThanOrEqual(before + index), {
        timeoutMs: 60_000,
      });
    }
    running.abort();
    await creating;
    await waitForSettled();
    const arrived = getEvents(kept);
    // The watch keeps the order: what was created before the marker arrives before it, or is lost.
    telemetry.sink.received.length = 0;
    await waitForCollecting(kept);
    await eventually(() => {
      const sent = new Set([...arrived, ...getEvents(kept)]);
      expect(names.filter((name) => !sent.has(name))).toEqual([]);
    });
  });
});

describe('a reload that fails', () => {
  it('loses no change of the namespaces that were collected before', async () => {
    const { activate, testCluster, waitForSettled } = telemetry;
    const another = await activate('added', getToken(0x74_04), collects(false));
    await waitForSettled();
    const before = await countFailures();
    // The collector exits if it cannot read which kinds there are.
    proxy.interfere = ({ path }) => (/^\/apis?([?]|$)/.test(path) ? { answer: 500 } : undefined);
    await toggle(another, true);
    await eventually(async () => expect(await countFailures()).toBe(before + 1), { timeoutMs: 60_000 });
    // No list shows an event that is deleted before.
    await testCluster.create(getEvent(kept, 'brief'));
    await testCluster.client.delete({ ...kinds.events, namespace: kept, name: 'brief' });
    proxy.interfere = undefined;
    await waitForSettled();
    await eventually(() => expect(getEvents(kept)).toContain('brief'));
  });
});

describe('a collector that exits at each reload', () => {
  it('serves before the next attempt, also if its restart takes longer than the pause between attempts', async () => {
    const { activate, collector, manager, metric, waitForCollecting, waitForSettled } = telemetry;
    const another = await activate('refused', getToken(0x74_08), collects(false));
    await waitForSettled();
    const collected = await metric('lumigo_operator_telemetry_collected_namespaces');
    const getFailures = (): number[] => {
      const lines = readFileSync(manager().logFile, 'utf8').split('\n');
      const failed = lines.filter((line) => line.includes('cannot reload the telemetry proxy'));
      return failed.map((line) => (JSON.parse(line) as { namespaces: number }).namespaces);
    };
    const before = getFailures().length;
    const waitForFailures = (...expected: readonly number[]) =>
      eventually(() => expect(getFailures().slice(before)).toEqual(expected), { timeoutMs: 60_000, intervalMs: 50 });
    const began = Date.now();
    proxy.interfere = ({ path }) => (/^\/apis?([?]|$)/.test(path) ? { answer: 500 } : undefined);
    await toggle(another, true);
    await waitForFailures(collected + 1);
    // No collector survives its start, as if the kubelet waited.
    const away = setInterval(() => orUndefined(() => process.kill(collector().pid(), 'SIGKILL')), 50);
    await sleep(retryMs(1) + 1_000).finally(() => clearInterval(away));
    await waitForFailures(collected + 1, collected);
    proxy.interfere = undefined;
    // The rest depends on how long it was away, which is long on a busy machine.
    await waitForCollecting(another, restMs(Date.now() - began) + 90_000);
    expect(getFailures().slice(before)).toEqual([collected + 1, collected]);
  });
});

describe('a watch that the API server refused', () => {
  it('continues within two minutes after the account works again', async () => {
    const { testCluster, sink, waitForSettled } = telemetry;
    await waitForSettled();
    // The watches by which the collector finds senders select pods of nodes, and never end.
    const isOfKind = (path: string) => path.startsWith('/api/v1/pods?') && !path.includes('fieldSelector');
    const refused = { watches: 0, lists: 0 };
    proxy.interfere = ({ path, isWatch }) => {
      if (!isOfKind(path)) return undefined;
      refused[isWatch ? 'watches' : 'lists'] += 1;
      return { answer: 403 };
    };
    expect(proxy.cutWatches(isOfKind)).toBe(1);
    await eventually(() => expect([refused.watches, refused.lists > 0]).toEqual([1, true]), { timeoutMs: 90_000 });
    proxy.interfere = undefined;
    const getPods = () => sink.objects.filter(({ namespace, resource }) => namespace === kept && resource === 'pods');
    let attempt = 0;
    await eventually(
      async () => {
        await testCluster.create(getPod(kept, `allowed-${(attempt += 1)}`));
        expect(getPods().length).toBeGreaterThan(0);
      },
      { timeoutMs: 90_000, intervalMs: 500 },
    );
  });
});

describe('a namespace whose collection ends sends nothing from then on, and others lose no event', () => {
  it('while the collector rests after a reload [F75]', async () => {
    const { activate, collector, waitForSettled } = telemetry;
    const another = await activate('during-rest', getToken(0x74_05), collects(false));
    const before = await waitForSettled();
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
    await waitForReloads(before + 1).finally(() => clearInterval(hanging));
    for (const head of heads) head.destroy();
    await cutOff(endsFirst);
    expect(await telemetry.countReloads()).toBe(before + 1);
    await expectEventsOfKeptAlone(endsFirst, 'after');
  });

  it('while a reload waits for the API server [F75]', async () => {
    const { activate, waitForCollecting, waitForSettled } = telemetry;
    const another = await activate('begins', getToken(0x74_06), collects(false));
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
    await cutOff(endsLater).finally(() => answers.abort());
    await waitForCollecting(another);
    await expectEventsOfKeptAlone(endsLater, 'waited');
  });
});

describe('a reload in a cluster with many pods', () => {
  it('is not ended while the pipelines list the pods one after the other', async () => {
    const { activate, collector, waitForSettled } = telemetry;
    const another = await activate('large', getToken(0x74_07), collects(false));
    const reloads = await waitForSettled();
    const before = [await countFailures(), collector().restarts()];
    let lists = 0;
    proxy.interfere = ({ path }) => {
      if (!path.includes('/pods?') || !path.includes('spec.nodeName')) return undefined;
      lists += 1;
      // Each pipeline waits 10 s for this and its earlier lists. Three of them are longer than the former limit of 20 s.
      return { holdAnswer: () => sleep(7_000) };
    };
    await toggle(another, true);
    await waitForReloads(reloads + 1, 120_000);
    expect(lists).toBeGreaterThanOrEqual(3);
    expect([await countFailures(), collector().restarts()]).toEqual(before);
  });

  it('is ended if a list takes longer than the collector waits, and the next one starts without it', async () => {
    // The former manager rests for three times as long as its last reload took.
    await telemetry.manager().stop();
    await telemetry.startManager();
    const { activate, collector, waitForCollecting, waitForSettled } = telemetry;
    const another = await activate('larger', getToken(0x74_08), collects(false));
    await waitForSettled();
    const before = collector().restarts();
    const isList = (path: string): boolean => path.includes('/pods?') && path.includes('spec.nodeName');
    const holdAnswer = () => sleep(15_000, undefined, { ref: false });
    proxy.interfere = ({ path }) => (isList(path) ? { holdAnswer } : undefined);
    await toggle(another, true);
    await waitForCollecting(another, 120_000);
    expect([await countFailures(), collector().restarts()]).toEqual([0, before + 1]);
  });
});

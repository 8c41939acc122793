import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Manager } from '../../sandbox/manager/manager.ts';
import { post, countSpans } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { isAlive } from '../../sandbox/run.ts';
import { getEvent, startTelemetry, getToken, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

let telemetry: TelemetryBench;
let second: Manager;
let squatter: Server | undefined;
beforeAll(async () => {
  telemetry = await startTelemetry({ controllerManager: false });
  second = await telemetry.startAnother();
});
afterAll(async () => {
  squatter?.close();
  await telemetry?.stop();
});
afterEach(() => telemetry?.waitForSettled().then(() => undefined));

const LEASE_MS = 15_000;
/** The manager gives up before, on a busy machine as well. The kubelet would wait for 75 s. */
const GRACE_MS = 30_000;

const send = (url: string, token: string) =>
  post(`${url}/v1/traces`, countSpans({}, ['00000000000000aa']), { token }).catch(() => ({ status: 0, text: '' }));

const arrivals = (namespace: string): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const { namespace: of, object, change } of telemetry.sink.objects)
    if (of === namespace && change === 'ADDED')
      counts.set(object.metadata.name, (counts.get(object.metadata.name) ?? 0) + 1);
  return counts;
};

describe('of two replicas', () => {
  it('both accept senders and one collects, and another replaces it after the Lease, once', async () => {
    const { activate, testCluster, waitForCollecting, collector, killManager } = telemetry;
    const namespace = await activate('shared', getToken(1));
    await waitForCollecting(namespace);
    await testCluster.create(getEvent(namespace, 'before'));
    const { collector: other } = second;
    for (const url of [collector().url, other?.url ?? ''])
      await eventually(async () => expect((await send(url, getToken(1))).status).toBe(200));
    await eventually(() => expect(arrivals(namespace).get('before')).toBe(1));
    // The other replica has enough time to send the same.
    await sleep(1_500);
    expect([...arrivals(namespace)].filter(([name, count]) => name === 'before' && count !== 1)).toEqual([]);
    expect(await second.metric('lumigo_operator_telemetry_collected_namespaces')).toBe(0);

    await killManager();
    await eventually(
      async () => {
        await testCluster.create(getEvent(namespace, `after-${Date.now()}`));
        await sleep(400);
        expect([...arrivals(namespace).keys()].some((name) => name.startsWith('after-'))).toBe(true);
      },
      // A reload may take 20 s.
      { timeoutMs: LEASE_MS + 45_000 },
    );
    await telemetry.startManager();
    await eventually(async () => expect((await send(collector().url, getToken(1))).status).toBe(200));
    await testCluster.create(getEvent(namespace, 'late'));
    await eventually(() => expect(arrivals(namespace).get('late')).toBe(1));
    await sleep(1_500);
    expect(arrivals(namespace).get('late')).toBe(1);
  });
});

describe('a configuration that the collector refuses', () => {
  it('is reported and tried again, while traces and the last good one continue [D34]', async () => {
    const { testCluster, activate, manager, waitForCollecting } = telemetry;
    // The replica that was started last stands by, and the second leads.
    const leads = (await second.metric('lumigo_operator_leader')) === 1 ? second : manager();
    const { collector } = leads;
    if (collector === undefined) throw new Error('no collector');
    const good = await activate('good', getToken(2));
    await waitForCollecting(good);
    const reloads = () => leads.metric('lumigo_operator_telemetry_proxy_reloads_total');
    const before = await reloads();

    // A collector listens on this port only while it collects.
    for (const namespace of await collected()) await switchEvents(namespace, false);
    await eventually(async () => expect(await leads.metric('lumigo_operator_telemetry_collected_namespaces')).toBe(0));
    // The collector releases the port with the reload after the last namespace, which may have to rest first.
    const pending = () => leads.metric('lumigo_operator_telemetry_proxy_reload_pending');
    await eventually(async () => expect(await pending()).toBe(0), { timeoutMs: 120_000 });
    squatter = await eventually(() => listen(collector.telemetryLoopPort));
    const restarts = collector.restarts();
    await switchEvents(good, true);
    await eventually(
      async () =>
        expect(await testCluster.condition(good, 'TelemetryProxyReady')).toMatchObject({
          status: 'False',
          reason: 'ReloadFailed',
          message: expect.stringContaining('the collector exited while it loaded its configuration'),
        }),
      { timeoutMs: 100_000 },
    );
    await eventually(async () =>
      expect((await testCluster.events(good, 'lumigo')).map(({ reason }) => reason)).toContain(
        'LumigoCannotCollectTelemetry',
      ),
    );
    expect(await reloads()).toBeGreaterThan(before);
    await eventually(() => expect(collector.restarts()).toBeGreaterThan(restarts));
    await eventually(async () => expect((await send(collector.url, getToken(2))).status).toBe(200));

    squatter.close();
    await testCluster.waitForCondition(good, 'TelemetryProxyReady', { status: 'True' });
    const count = telemetry.sink.objects.length;
    await testCluster.create(getEvent(good, 'again'));
    await eventually(() => expect(telemetry.sink.objects.length).toBeGreaterThan(count));
  });
});

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject).listen(port, '127.0.0.1', () => resolve(server));
  });

async function collected(): Promise<string[]> {
  const names: string[] = [];
  const lumigoes = { group: 'operator.lumigo.io', version: 'v1alpha1', plural: 'lumigoes' };
  for await (const { items } of telemetry.cluster.client.pages(lumigoes))
    names.push(...items.map(({ metadata }) => metadata.namespace ?? ''));
  return names;
}

const switchEvents = (namespace: string, enabled: boolean) =>
  telemetry.testCluster.changeLumigo(namespace, { spec: { infrastructure: { kubeEvents: { enabled } } } });

describe('the end of a pod', () => {
  it('is not delayed by a telemetry proxy that does not stop', async () => {
    const manager = second;
    const pid = second.collector?.pid() ?? 0;
    process.kill(pid, 'SIGSTOP');
    process.kill(manager.pid, 'SIGTERM');
    const started = Date.now();
    expect(await manager.died).toContain('telemetry proxy did not stop in time, killed it');
    expect(Date.now() - started).toBeLessThan(GRACE_MS);
    await eventually(() => expect(isAlive(pid)).toBe(false));
  });

  it('has no endpoint, and a manager that stops alone leaves its telemetry proxy running [F25]', async () => {
    const manager = telemetry.manager();
    const { collector } = manager;
    if (collector === undefined) throw new Error('no collector');
    const pid = collector.pid();
    expect((await fetch(`http://127.0.0.1:${manager.healthPort}/drain`)).status).toBe(404);
    process.kill(manager.pid, 'SIGTERM');
    expect(await manager.died).not.toContain('telemetry proxy did not stop');
    expect(collector.pid()).toBe(pid);
    expect((await send(collector.url, getToken(999))).status).toBe(401);
    await collector.stop();
    await telemetry.startManager();
  });
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { startApiProxy, type ApiProxy } from '../../sandbox/faults/api-proxy.ts';
import { countSpans, post, spanId, toLog } from '../../sandbox/otlp-sink/sender.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getEvent, getToken, startTelemetry, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import type { Condition } from '../api/lumigo.ts';
import { lumigo } from '../contract.ts';
import { getLease } from '../installation/installation.ts';
import { toFile } from './types.ts';

let telemetry: TelemetryBench;
let proxy: ApiProxy;
let squatter: Server | undefined;
let shop = '';
beforeAll(async () => {
  const settings = { clusterCollection: { logs: { enabled: true } } };
  const through = async (cluster: ControlPlane) => {
    proxy = await startApiProxy(cluster);
    // The key of nodes is not created yet.
    proxy.interfere = ({ isWrite, path }) => (isWrite && /\/secrets(\?|$)/.test(path) ? { answer: 500 } : undefined);
    return proxy;
  };
  telemetry = await startTelemetry({ controllerManager: false, settings, through });
  const spec = { logging: { enabled: true }, tracing: { injection: { enabled: false } } };
  shop = await telemetry.activate('shop', getToken(1), spec);
  await telemetry.waitForCollecting(shop);
  await telemetry.waitForSettled();
});
afterAll(async () => {
  squatter?.close();
  await telemetry?.stop();
});

/** Sends a line as the collector of a node does. Returns 0 without a connection. */
async function sendLine(text: string): Promise<number> {
  const { nodeDataPort } = telemetry.collector();
  const headers = {
    'content-type': 'application/json',
    authorization: `Bearer ${readFileSync(toFile(telemetry.collector(), 'nodeKeys'), 'utf8').split('\n').at(-1)}`,
  };
  const body = JSON.stringify(toLog({ 'k8s.namespace.name': shop }, text));
  const sent = fetch(`http://127.0.0.1:${nodeDataPort}/v1/logs`, { method: 'POST', headers, body });
  return sent.then(({ status }) => status).catch(() => 0);
}

const arrived = (): ReadonlySet<unknown> =>
  new Set(telemetry.sink.received.map(({ item }) => ('body' in item ? item.body : undefined)));

const listen = (port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject).listen(port, '127.0.0.1', () => resolve(server));
  });

/** The next term finds a condition that is True. No reload starts, so it can report only what failed before. */
async function endTermWithoutReport(): Promise<void> {
  const { testCluster, installation, metric } = telemetry;
  proxy.interfere = ({ path, isWatch }) => (!isWatch && path.includes('limit=1') ? { answer: 500 } : undefined);
  const spec = { holderIdentity: 'another', leaseDurationSeconds: 5 };
  await testCluster.client.patch(getLease(installation.config), { kind: 'merge', body: { spec } });
  await eventually(async () => expect(await metric('lumigo_operator_leader')).toBe(0));
  const { conditions = [] } = (await testCluster.readLumigo(shop)).status ?? {};
  const good = { status: 'True', reason: 'ConfigurationTaken', message: '' };
  const isTelemetry = ({ type }: Condition) => type === 'TelemetryProxyReady';
  const known = conditions.map((each) => (isTelemetry(each) ? { ...each, ...good } : each));
  await testCluster.setStatus({ ...lumigo, namespace: shop, name: 'lumigo' }, { conditions: known });
}

it('a refused configuration is reported until it works, and the last good one continues [D34]', async () => {
  const { testCluster, collector, sink } = telemetry;
  const status = async () => (await testCluster.condition(shop, 'TelemetryProxyReady'))?.status;
  const taken = () => telemetry.countReloads('outcome="taken"');
  const before = await taken();
  const restarts = collector().restarts();
  squatter = await listen(collector().nodeDataPort);
  proxy.interfere = undefined;
  await testCluster.waitForCondition(shop, 'TelemetryProxyReady', { status: 'False', reason: 'ReloadFailed' });
  const { message } = (await testCluster.condition(shop, 'TelemetryProxyReady')) ?? {};
  expect(message).toContain('the collector exited while it loaded its configuration');
  // The first pauses may be shorter than the rest of the collector.
  await eventually(async () => expect(await taken()).toBe(before + 1), { timeoutMs: 150_000 });
  expect(collector().restarts()).toBeGreaterThan(restarts);
  expect(await testCluster.reasons(shop, 'lumigo')).toContain('LumigoCannotCollectTelemetry');
  await eventually(async () =>
    expect(
      (await post(`${collector().url}/v1/traces`, countSpans({}, [spanId(1)]), { token: getToken(1) })).status,
    ).toBe(200),
  );
  await testCluster.create(getEvent(shop, 'meanwhile'));
  await eventually(() => expect(sink.objects.map(({ object }) => object.metadata.name)).toContain('meanwhile'));
  // A fallback that works is no success of the refused configuration.
  expect(await status()).toBe('False');
  await endTermWithoutReport();
  await testCluster.waitForCondition(shop, 'TelemetryProxyReady', { status: 'False', reason: 'ReloadFailed' });
  proxy.interfere = undefined;
  squatter.close();
  await eventually(async () => expect(await status()).toBe('True'), { timeoutMs: 150_000 });
});

const OUTAGE_MS = 40_000;

it('lines continue while the API server refuses everything, and no proxy restarts', async () => {
  const { collector, metric, waitForCollecting, waitForSettled } = telemetry;
  await waitForSettled();
  const restarts = collector().restarts();
  proxy.interfere = () => ({ answer: 500 });
  proxy.cutWatches(() => true);
  const ends = Date.now() + OUTAGE_MS;
  await eventually(async () => expect(await metric('lumigo_operator_leader')).toBe(0), { timeoutMs: OUTAGE_MS });
  await sleep(ends - Date.now());
  expect(await sendLine('during the outage')).toBe(200);
  await eventually(() => expect(arrived()).toContain('during the outage'));
  proxy.interfere = undefined;
  telemetry.sink.received.length = 0;
  await waitForCollecting(shop);
  expect(collector().restarts()).toBe(restarts);
});

it('lines wait while a manager starts and cannot read the Secret of a namespace that sends lines', async () => {
  const { stopManager, startManager, waitForSettled } = telemetry;
  proxy.interfere = ({ path }) => (path.includes(`/namespaces/${shop}/secrets/`) ? { answer: 500 } : undefined);
  await stopManager();
  await startManager();
  await waitForSettled();
  expect(await sendLine('too early')).toBe(0);
  proxy.interfere = undefined;
  await eventually(async () => expect(await sendLine('in time')).toBe(200), { timeoutMs: 60_000 });
  await eventually(() => expect(arrived()).toContain('in time'));
});

it('metrics do not wait for that Secret if log files are off', async () => {
  const { stopManager, startManager, testCluster, installation } = telemetry;
  await testCluster.secret(installation.settings.namespace, getToken(2));
  proxy.interfere = ({ path }) => (path.includes(`/namespaces/${shop}/secrets/`) ? { answer: 500 } : undefined);
  await stopManager();
  await startManager({ config: { nodeLogs: false, nodeMetrics: true } });
  // The port is open, and takes no lines.
  await eventually(async () => expect(await sendLine('off')).toBe(404), { timeoutMs: 60_000 });
});

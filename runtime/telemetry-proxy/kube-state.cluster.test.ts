import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runCommand } from '../../sandbox/manager/command.ts';
import { sumMetric, type Manager } from '../../sandbox/manager/manager.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getToken, startTelemetry, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';

/** The answer of kube-state-metrics 2.14.0 beside a real API server, one line of each metric. It cannot be built from modules. */
const recorded = readFileSync('sandbox/original/kube-state-metrics-2.14.0.txt', 'utf8');
const notEssential = 'kube_configmap_info{namespace="shop",configmap="settings"} 1\n';

/** An empty label is none. */
const samples = [...recorded.matchAll(/^(\w+)\{(.*)\} /gm)].map(
  ([, name = '', labels = '']) =>
    [name, Object.fromEntries([...labels.matchAll(/(\w+)="([^"]+)"/g)].map(([, key, value]) => [key, value]))] as const,
);
const token = getToken(0xc0_ffee);

let kubeStateMetrics: Server;
let telemetry: TelemetryBench;
let second: Manager;
beforeAll(async () => {
  kubeStateMetrics = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/plain; version=0.0.4');
    answer.end(recorded + notEssential);
  });
  await new Promise<void>((resolve) => kubeStateMetrics.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(kubeStateMetrics.address() as AddressInfo).port}`;
  const settings = {
    clusterCollection: { metrics: { enabled: true, frequency: '1s' } },
    kubeStateMetrics: { address },
  };
  telemetry = await startTelemetry({ controllerManager: false, settings });
  second = await telemetry.startAnother();
});
afterAll(async () => {
  kubeStateMetrics?.close();
  await telemetry?.stop();
});

const getMetrics = () => telemetry.sink.received.filter(({ signal }) => signal === 'metrics');

const getSent = () =>
  new Map(getMetrics().flatMap(({ item }) => ('name' in item ? [[item.name, item.attributes] as const] : [])));

const putToken = (value: string) => telemetry.testCluster.secret(telemetry.installation.settings.namespace, value);

it('says in its log and in `lumigo check` that the token of the installation is missing', async () => {
  await eventually(() => expect(readFileSync(telemetry.manager().logFile, 'utf8')).toContain('no metrics are sent'));
  const { kubeconfig } = telemetry.cluster;
  const check = () => runCommand(['--kubeconfig', kubeconfig, 'check'], { HOME: '/nonexistent' });
  const missing = /nodes +failed +Secret 'lumigo-system\/lumigo-credentials' does not exist.*\. No metrics are sent\n/;
  expect((await check()).stdout).toMatch(missing);
  await putToken(token);
  expect((await check()).stdout).toMatch(/nodes +ok +The collectors of 0 of 0 nodes are available\n/);
});

it('sends each essential metric of kube-state-metrics with its labels, under the token of the installation', async () => {
  expect(samples.length).toBeGreaterThan(30);
  await eventually(() => expect([...getSent().keys()]).toEqual(expect.arrayContaining(samples.map(([name]) => name))), {
    timeoutMs: 60_000,
  });
  for (const [name, labels] of samples)
    expect([name, getSent().get(name)]).toEqual([name, expect.objectContaining(labels)]);
  expect([...getSent().keys()].toSorted()).toEqual(samples.map(([name]) => name).toSorted());
  expect(new Set(getMetrics().map(({ authorization }) => authorization))).toEqual(new Set([`LumigoToken ${token}`]));
});

const countScraped = async ({ collector }: Manager): Promise<number> => {
  const exposition = await (await fetch(`http://127.0.0.1:${collector?.metricsPort}/metrics`)).text();
  return sumMetric('otelcol_receiver_accepted_metric_points', 'kube-state-metrics', exposition);
};

it('scrapes it by the leader alone', async () => {
  await telemetry.waitForSettled();
  const [leader, other] =
    (await second.metric('lumigo_operator_leader')) === 1
      ? [second, telemetry.manager()]
      : [telemetry.manager(), second];
  await eventually(async () => expect(await countScraped(leader)).toBeGreaterThan(0));
  // The other replica has the same configuration from here on.
  await eventually(async () => expect(await other.metric('lumigo_operator_telemetry_proxy_reload_pending')).toBe(0));
  expect(await countScraped(other)).toBe(0);
});

it('counts the token of the installation if Lumigo refuses it', async () => {
  const refused = getToken(0xdead);
  telemetry.sink.refused.add(refused);
  await putToken(refused);
  const count = async () =>
    (await second.metric('lumigo_operator_refused_tokens')) +
    (await telemetry.metric('lumigo_operator_refused_tokens'));
  await eventually(async () => expect(await count()).toBe(1), { timeoutMs: 60_000 });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, openSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { operatorVersion } from '../../infra/settings/version.ts';
import { nodeCollectorConfig } from '../../infra/constructs/node-collector-pod.ts';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { runCommand } from '../../sandbox/manager/command.ts';
import { sumMetric, type Manager } from '../../sandbox/manager/manager.ts';
import type { Attributes } from '../../sandbox/otlp-sink/decode.ts';
import { post, toLog } from '../../sandbox/otlp-sink/sender.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { forward } from '../../sandbox/testing/forwarded.ts';
import { podAt } from '../../sandbox/testing/pod-at.ts';
import { getToken, startTelemetry, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { mounts, nodeCollectorFiles, ports, suffixes, workloadKinds } from '../contract.ts';
import type { NodeCollectorConfig } from '../config/config.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { toData } from '../kubernetes/resources/objects.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { renderNodeCollector } from '../node-collector/render.ts';

/** The answer of kube-state-metrics 2.14.0 beside a real API server, one line of each metric. It cannot be built from modules. */
const recorded = readFileSync('sandbox/original/kube-state-metrics-2.14.0.txt', 'utf8');
const notEssential = 'kube_configmap_info{namespace="shop",configmap="settings"} 1\n';

/** An empty label is none. */
const samples = [...recorded.matchAll(/^(\w+)\{(.*)\} /gm)].map(
  ([, name = '', labels = '']) =>
    [name, Object.fromEntries([...labels.matchAll(/(\w+)="([^"]+)"/g)].map(([, key, value]) => [key, value]))] as const,
);
const token = getToken(0xc0_ffee);

/** Everything that a setting adds to the traces of programs. */
let telemetry: TelemetryBench;
let second: Manager;
let kubeStateMetrics: Server;
beforeAll(async () => {
  kubeStateMetrics = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/plain; version=0.0.4');
    answer.end(recorded + notEssential);
  });
  await new Promise<void>((resolve) => kubeStateMetrics.listen(0, '127.0.0.1', resolve));
  const address = `127.0.0.1:${(kubeStateMetrics.address() as AddressInfo).port}`;
  const settings = {
    clusterCollection: { logs: { enabled: true }, metrics: { enabled: true, frequency: '1s' } },
    kubeStateMetrics: { address },
    telemetry: { findPodsBehindNat: true, namespaceLabels: ['kubernetes.io/metadata.name', 'team'] },
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

const countScraped = async ({ collector }: Manager): Promise<number> => {
  const exposition = await (await fetch(`http://127.0.0.1:${collector?.telemetryMetricsPort}/metrics`)).text();
  return sumMetric('otelcol_receiver_accepted_metric_points', 'kube-state-metrics', exposition);
};

describe('the metrics of kube-state-metrics', () => {
  it('need the token of the installation, as the log and `lumigo check` say', async () => {
    await eventually(() => expect(readFileSync(telemetry.manager().logFile, 'utf8')).toContain('no metrics are sent'));
    const { kubeconfig } = telemetry.cluster;
    const check = () => runCommand(['--kubeconfig', kubeconfig, 'check'], { HOME: '/nonexistent' });
    const missing =
      /nodes +failed +Secret 'lumigo-system\/lumigo-credentials' does not exist.*\. No metrics are sent\n/;
    expect((await check()).stdout).toMatch(missing);
    await putToken(token);
    expect((await check()).stdout).toMatch(/nodes +ok +The collectors of 0 of 0 nodes are available\n/);
  });

  it('are sent with their labels, each essential one, under the token of the installation', async () => {
    expect(samples.length).toBeGreaterThan(30);
    const names = samples.map(([name]) => name).toSorted();
    await eventually(() => expect([...getSent().keys()].toSorted()).toEqual(names), { timeoutMs: 60_000 });
    for (const [name, labels] of samples)
      expect([name, getSent().get(name)]).toEqual([name, expect.objectContaining(labels)]);
    expect(new Set(getMetrics().map(({ authorization }) => authorization))).toEqual(new Set([`LumigoToken ${token}`]));
  });

  it('are scraped by the leader alone', async () => {
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

  it('have a token that is counted if Lumigo refuses it', async () => {
    const refused = getToken(0xdead);
    telemetry.sink.refused.add(refused);
    await putToken(refused);
    const count = async () =>
      (await second.metric('lumigo_operator_refused_tokens')) +
      (await telemetry.metric('lumigo_operator_refused_tokens'));
    await eventually(async () => expect(await count()).toBe(1), { timeoutMs: 60_000 });
  });
});

let key = '';
let pods = '';
let shop = '';
let bank = '';
let quiet = '';
let collector: ChildProcess;
const logging = { logging: { enabled: true }, infrastructure: { enabled: false } };

beforeAll(async () => {
  shop = await telemetry.activate('shop', getToken(1), logging);
  bank = await telemetry.activate('bank', getToken(2), logging);
  quiet = await telemetry.activate('quiet', getToken(3), { infrastructure: { enabled: false } });
  key = await eventually(readKey);
  await telemetry.waitForSettled();
  pods = join(telemetry.cluster.dir, 'pods');
  collector = await startNodeCollector();
  // Files from before the first poll are read from their end.
  await eventually(() => {
    write(logFileOf(shop, 'first'), 'first');
    expect(bodiesOf(shop)).toContain('first');
  });
});
afterAll(() => void collector?.kill('SIGKILL'));

const getKeyName = () => ({
  namespace: telemetry.installation.settings.namespace,
  name: telemetry.installation.settings.name + suffixes.nodeCollector,
});

async function readKey(): Promise<string> {
  const secret = await telemetry.cluster.client.get({ ...kinds.secrets, ...getKeyName() });
  return Buffer.from(toData(secret)[nodeCollectorFiles.key] ?? '', 'base64').toString();
}

/** Runs the configuration of a node on this machine, with folders of the test in place of those of the pod. */
async function startNodeCollector(): Promise<ChildProcess> {
  const { otelcol = '' } = await ensureBinaries(['otelcol']);
  const [health = 0, metrics = 0] = await freePorts(2);
  const folder = join(telemetry.cluster.dir, 'node');
  mkdirSync(folder, { recursive: true });
  mkdirSync(pods, { recursive: true });
  writeFileSync(join(folder, nodeCollectorFiles.key), key);
  const config: NodeCollectorConfig = {
    ...nodeCollectorConfig(telemetry.installation.settings),
    podName: 'node',
    metrics: false,
    metricsSecure: true,
    proxyUrl: `http://127.0.0.1:${telemetry.collector().nodeDataPort}`,
  };
  const replaced = [
    [mounts.nodeCollectorState, folder],
    [mounts.nodeCollectorKey, folder],
    [mounts.podLogs, pods],
    [`:${ports.telemetryHealth}"`, `127.0.0.1:${health}"`],
    [`"port": ${ports.telemetryMetrics}`, `"port": ${metrics}`],
  ] as const;
  const rendered = serialize(renderNodeCollector(config, { name: 'node', address: '127.0.0.1' }));
  const text = replaced.reduce((given, [from, to]) => given.replaceAll(from, to), rendered);
  const file = join(folder, nodeCollectorFiles.configuration);
  writeFileSync(file, text);
  const log = openSync(join(folder, 'log'), 'a');
  const child = spawn(otelcol, [`--config=${file}`], { stdio: ['ignore', log, log] });
  await eventually(async () => expect((await fetch(`http://127.0.0.1:${health}`)).status).toBe(200), {
    timeoutMs: 30_000,
  });
  return child;
}

function logFileOf(namespace: string, pod: string): string {
  const folder = join(pods, `${namespace}_${pod}_${randomUUID()}`, 'app');
  mkdirSync(folder, { recursive: true });
  return join(folder, '0.log');
}

/** Writes a line as containerd does. */
const write = (file: string, text: string, tag: 'F' | 'P' = 'F', stream: 'stdout' | 'stderr' = 'stdout'): void =>
  appendFileSync(file, `${new Date().toISOString()} ${stream} ${tag} ${text}\n`);

const lines = (from: number, count: number, name: string) =>
  Array.from({ length: count }, (_, index) => `${name} ${from + index}`);

const received = (namespace: string) =>
  telemetry.sink.received.filter(
    ({ scope, resource }) =>
      scope === 'lumigo-operator.log_file_collector' && resource['k8s.namespace.name'] === namespace,
  );
const bodiesOf = (namespace: string) => received(namespace).map(({ item }) => ('body' in item ? item.body : undefined));

const waitForLines = (namespace: string, expected: readonly unknown[]) =>
  eventually(() => expect(bodiesOf(namespace).toSorted()).toEqual([...expected].toSorted()), { timeoutMs: 20_000 });

describe('log files of a node', () => {
  it('leave under the token of their own namespace, and only if its Lumigo has logging enabled', async () => {
    const names = [shop, bank, quiet, 'unknown', 'kube-system'];
    for (const name of names) write(logFileOf(name, 'front'), `a line of ${name}`);
    await eventually(() => expect(bodiesOf(shop)).toContain(`a line of ${shop}`), { timeoutMs: 20_000 });
    await waitForLines(bank, [`a line of ${bank}`]);
    const tokensOf = (name: string) => new Set(received(name).map(({ authorization }) => authorization));
    expect([shop, bank].map(tokensOf)).toEqual([1, 2].map((each) => new Set([`LumigoToken ${getToken(each)}`])));
    for (const name of [quiet, 'unknown', 'kube-system']) expect(bodiesOf(name)).toEqual([]);
  });

  it('have the pod and container of their path, the stream, and the attributes of the cluster', async () => {
    const line = received(shop).find(({ item }) => 'body' in item && item.body === `a line of ${shop}`);
    expect(line?.resource).toMatchObject({
      'k8s.pod.name': 'front',
      'k8s.pod.uid': expect.stringMatching(/^[-0-9a-f]{36}$/),
      'k8s.container.name': 'app',
      'k8s.container.restart_count': '0',
      'k8s.cluster.uid': expect.stringMatching(/^[-0-9a-f]{36}$/),
      'lumigo.k8s_operator.version': operatorVersion(),
    });
    expect(line?.item.attributes).toMatchObject({ 'log.iostream': 'stdout' });
  });

  it('lose and double no line while they are rotated and truncated, and while the collector restarts', async () => {
    const namespace = await telemetry.activate('turning', getToken(4), logging);
    await telemetry.waitForSettled();
    const file = logFileOf(namespace, 'front');
    const all: string[] = [];
    const add = (count: number) => {
      for (const text of lines(all.length, count, 'line')) {
        write(file, text);
        all.push(text);
      }
    };
    add(100);
    await waitForLines(namespace, all);
    renameSync(file, `${file}.20260101-000000`);
    add(100);
    await waitForLines(namespace, all);
    collector.kill('SIGTERM');
    await once(collector, 'exit');
    add(100);
    renameSync(file, `${file}.20260101-000001`);
    add(100);
    collector = await startNodeCollector();
    await waitForLines(namespace, all);
    truncateSync(file);
    add(50);
    await waitForLines(namespace, all);
  });

  it('have JSON of few values as maps if these keep each integer, and parts of a long line as one', async () => {
    const file = logFileOf(bank, 'json');
    const exact = { level: 'info', count: 3, at: 1_764_361_234_567_890, id: '1234567890123456789', list: [-5] };
    write(file, JSON.stringify(exact));
    const largest = { list: Array(255).fill('é'.repeat(99)) };
    write(file, JSON.stringify(largest));
    const asText = [
      '{"order":1234567890123456789}',
      '{"a": [ -9007199254740993 ]}',
      '{"a":1} {"b":2}',
      JSON.stringify({ list: [...largest.list, ''] }),
    ];
    for (const line of asText) write(file, line);
    write(file, 'begin-', 'P');
    write(file, 'warn-', 'P', 'stderr');
    write(file, 'between-', 'P');
    write(file, 'ing', 'F', 'stderr');
    write(file, 'end');
    const expected = [exact, largest, ...asText, 'begin-between-end', 'warn-ing'];
    await eventually(() => expect(bodiesOf(bank)).toEqual(expect.arrayContaining(expected)), { timeoutMs: 20_000 });
  });

  it('continue with a new queue if blocks of the old one never reached the disk', async () => {
    collector.kill('SIGKILL');
    await once(collector, 'exit');
    const folder = join(telemetry.cluster.dir, 'node');
    const queue = join(folder, 'exporter_otlphttp__logs');
    writeFileSync(queue, readFileSync(queue).fill(0, 2 * 4_096));
    writeFileSync(join(folder, 'tempdb-unfinished'), '');
    collector = await startNodeCollector();
    await eventually(() => {
      write(logFileOf(bank, 'again'), 'again');
      expect(bodiesOf(bank)).toContain('again');
    });
    expect((await readdir(folder)).filter((name) => /backup$|^tempdb/.test(name))).toEqual([
      expect.stringMatching(/^exporter_otlphttp__logs.*backup$/),
    ]);
  });
});

describe('the port for nodes', () => {
  const sendForged = async (port: number | string, token?: string) => {
    const forged = toLog({ 'k8s.namespace.name': 'any' }, 'forged');
    return (await post(`http://127.0.0.1:${port}/v1/logs`, forged, { token })).status;
  };

  it('refuses a sender without the key, so that no pod can send logs as another namespace', async () => {
    const { nodeDataPort } = telemetry.collector();
    for (const token of [undefined, getToken(2), key]) expect(await sendForged(nodeDataPort, token)).toBe(401);
  });

  it('does not accept its key at the port for programs', async () => {
    expect(await sendForged(new URL(telemetry.collector().url).port, key)).toBe(401);
  });
});

it('a key that cannot be created is reported once, and created later', async () => {
  const { client } = telemetry.cluster;
  const { daemonSet } = workloadKinds;
  const { metadata, ...found } = await client.get({ ...daemonSet, ...getKeyName() });
  await client.delete({ ...daemonSet, ...getKeyName() });
  // Kubernetes' garbage collector deletes it as well.
  await client.delete({ ...kinds.secrets, ...getKeyName() });
  const log = () => readFileSync(telemetry.manager().logFile, 'utf8');
  await eventually(() => expect(log()).toContain('cannot create the key'), { timeoutMs: 30_000 });
  const again = { ...found, apiVersion: daemonSet.apiVersion, kind: daemonSet.kind };
  await telemetry.testCluster.create({ ...again, metadata: { ...getKeyName(), labels: metadata.labels } } as never);
  await eventually(async () => expect(await readKey()).not.toBe(key), { timeoutMs: 40_000 });
  expect(log().split('cannot create the key')).toHaveLength(2);
});

let namespace = '';
let others = '';
let vault = '';
let cart = '';
beforeAll(async () => {
  namespace = await telemetry.activate('enriched', getToken(7));
  others = await telemetry.activate('others', getToken(9));
  await label(namespace, { team: 'checkout', other: 'unlisted' });
  await label(others, { team: 'vault' });
  vault = await podAt(telemetry.testCluster, '127.0.0.2', { namespace: others, app: 'vault' });
  cart = await podAt(telemetry.testCluster, '127.0.0.1', { namespace, app: 'cart' });
  await telemetry.waitForSettled();
});

const label = (name: string, labels: object) =>
  telemetry.cluster.client.patch({ ...kinds.namespaces, name }, { kind: 'merge', body: { metadata: { labels } } });

/** The attributes of labels, without their prefix. */
const getLabels = (resource: Attributes) =>
  Object.fromEntries(
    Object.entries(resource).flatMap(([key, value]) => {
      const [, name] = /^k8s[.]namespace[.]labels?[.](.+)$/.exec(key) ?? [];
      return name === undefined ? [] : [[name, value]];
    }),
  );

describe('the labels of a namespace', () => {
  const listed = () => ({ 'kubernetes.io/metadata.name': namespace, team: 'checkout' });

  it('are attributes of what its pods send, if the setting lists them', async () => {
    await eventually(async () => expect(getLabels(await forward(telemetry, {}))).toEqual(listed()));
  });

  it('replace no attribute that a program sets itself', async () => {
    const own = { 'k8s.namespace.label.team': 'own', 'k8s.namespace.label.more': 'own' };
    expect(getLabels(await forward(telemetry, own))).toEqual({ ...listed(), team: 'own', more: 'own' });
  });
});

describe('a sender behind NAT', () => {
  const address = '127.0.0.9';

  it('has the attributes of the pod that it names', async () => {
    const found = {
      'k8s.namespace.label.team': 'checkout',
      'k8s.deployment.name': 'cart',
      'k8s.pod.uid': cart,
      'k8s.namespace.name': namespace,
    };
    await eventually(async () =>
      expect(await forward(telemetry, { 'k8s.pod.uid': cart }, { address })).toMatchObject(found),
    );
  });

  it.each([
    ['uid', () => ({ 'k8s.pod.uid': vault })],
    ['uid and namespace', () => ({ 'k8s.pod.uid': vault, 'k8s.namespace.name': others })],
    ['namespace', () => ({ 'k8s.namespace.name': others })],
  ])("learns nothing of another namespace's pod or labels by their %s [F28]", async (_claim, claimed) => {
    // Its own sender finds it, so the collector knows it.
    await eventually(async () =>
      expect(await forward(telemetry, { 'k8s.pod.uid': vault }, { address, token: getToken(9) })).toMatchObject({
        'k8s.deployment.name': 'vault',
        'k8s.namespace.label.team': 'vault',
      }),
    );
    const resource = await forward(telemetry, { ...claimed(), 'service.name': 'own' }, { address });
    expect(JSON.stringify(resource)).not.toContain('vault');
    expect(getLabels(resource)).toEqual({});
    expect(resource).toMatchObject({ 'service.name': 'own', ...claimed() });
  });
});

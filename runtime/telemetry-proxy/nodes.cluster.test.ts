import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { appendFileSync, mkdirSync, openSync, readFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../sandbox/control-plane/processes.ts';
import { post, toLog } from '../../sandbox/otlp-sink/sender.ts';
import { ensureBinaries } from '../../sandbox/programs/build.ts';
import { eventually } from '../../sandbox/testing/eventually.ts';
import { getToken, startTelemetry, type TelemetryBench } from '../../sandbox/testing/telemetry.ts';
import { mounts, nodeCollectorFiles, ports, suffixes, workloadKinds } from '../contract.ts';
import type { NodeCollectorConfig } from '../config/config.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { serialize } from '../node-collector/common-parts.ts';
import { renderNodeCollector } from '../node-collector/render.ts';

let telemetry: TelemetryBench;
let key = '';
let pods = '';
let [shop, bank, quiet] = ['', '', ''];
let collector: ChildProcess;
const logging = { logging: { enabled: true }, infrastructure: { enabled: false } };

beforeAll(async () => {
  const settings = { clusterCollection: { logs: { enabled: true } } };
  telemetry = await startTelemetry({ controllerManager: false, settings });
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
afterAll(async () => {
  collector?.kill('SIGKILL');
  await telemetry?.stop();
});

async function readKey(): Promise<string> {
  const { namespace, name } = telemetry.installation.settings;
  const secret = await telemetry.cluster.client.get({
    ...kinds.secrets,
    namespace,
    name: name + suffixes.nodeCollector,
  });
  const { [nodeCollectorFiles.key]: encoded = '' } = secret['data'] as Readonly<Record<string, string>>;
  return Buffer.from(encoded, 'base64').toString();
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
    ...{ version: '0.1.0', podName: 'node', operatorNamespace: 'lumigo-system', excludedNamespaces: ['kube-system'] },
    ...{ logLevel: 'info', metricsSecure: true, logs: true, logsInclude: [], logsExclude: [], metrics: false },
    ...{ essentialOnly: true, essentialMetrics: [], metricsFrequency: '15s', queueSize: '64Mi' },
    proxyUrl: `http://127.0.0.1:${telemetry.collector().nodeDataPort}`,
  };
  const replaced = [
    [mounts.nodeCollectorState, folder],
    [mounts.nodeCollectorKey, folder],
    [mounts.podLogs, pods],
    [`:${ports.telemetryHealth}"`, `127.0.0.1:${health}"`],
    [`"port": ${ports.telemetryMetrics}`, `"port": ${metrics}`],
  ] as const;
  const text = serialize(renderNodeCollector(config, { name: 'node', address: '127.0.0.1' }));
  const file = join(folder, nodeCollectorFiles.configuration);
  writeFileSync(
    file,
    replaced.reduce((given, [from, to]) => given.replaceAll(from, to), text),
  );
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
const write = (file: string, text: string, tag: 'F' | 'P' = 'F'): void =>
  appendFileSync(file, `${new Date().toISOString()} stdout ${tag} ${text}\n`);

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
    expect(new Set(received(shop).map(({ authorization }) => authorization))).toEqual(
      new Set([`LumigoToken ${getToken(1)}`]),
    );
    expect(new Set(received(bank).map(({ authorization }) => authorization))).toEqual(
      new Set([`LumigoToken ${getToken(2)}`]),
    );
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
      'lumigo.k8s_operator.version': '0.1.0',
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

  it('have lines in JSON as maps if these keep each integer, and parts of a long line as one', async () => {
    const file = logFileOf(bank, 'json');
    const exact = { level: 'info', count: 3, at: 1_764_361_234_567_890, id: '1234567890123456789', list: [-5] };
    write(file, JSON.stringify(exact));
    const large = ['{"order":1234567890123456789}', '{"a": [ -9007199254740993 ]}', '{"a":1} {"b":2}'];
    for (const line of large) write(file, line);
    write(file, 'begin-', 'P');
    write(file, 'end');
    await eventually(() => expect(bodiesOf(bank)).toEqual(expect.arrayContaining([exact, ...large, 'begin-end'])), {
      timeoutMs: 20_000,
    });
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
  const resource = { 'k8s.namespace.name': 'any' };
  const forged = (token?: string) =>
    post(`http://127.0.0.1:${telemetry.collector().nodeDataPort}/v1/logs`, toLog(resource, 'forged'), { token });

  it.each([
    ['without a key', () => undefined],
    ['with the token of a namespace', () => getToken(2)],
    ['with the key in the form of a token', () => key],
  ])('refuses a sender %s, so that no pod can send logs as another namespace', async (_case, token) => {
    expect((await forged(token())).status).toBe(401);
  });

  it('does not accept its key at the port for programs', async () => {
    const sent = await post(`${telemetry.collector().url}/v1/logs`, toLog(resource, 'forged'), { token: key });
    expect(sent.status).toBe(401);
  });
});

it('a key that cannot be created is reported once, and created later', async () => {
  const { client } = telemetry.cluster;
  const { namespace, name: release } = telemetry.installation.settings;
  const name = release + suffixes.nodeCollector;
  const { daemonSet } = workloadKinds;
  const { metadata, ...found } = await client.get({ ...daemonSet, namespace, name });
  await client.delete({ ...daemonSet, namespace, name });
  // Kubernetes' garbage collector deletes it as well.
  await client.delete({ ...kinds.secrets, namespace, name }).catch(undefinedIfNotFound);
  const countReports = () =>
    readFileSync(telemetry.manager().logFile, 'utf8').split('cannot create the key').length - 1;
  await eventually(() => expect(countReports()).toBe(1), { timeoutMs: 30_000 });
  await sleep(4_000);
  expect(countReports()).toBe(1);
  const again = { ...found, apiVersion: daemonSet.apiVersion, kind: daemonSet.kind };
  await telemetry.testCluster.create({ ...again, metadata: { name, namespace, labels: metadata.labels } } as never);
  await eventually(async () => expect(await readKey()).not.toBe(key), { timeoutMs: 40_000 });
});

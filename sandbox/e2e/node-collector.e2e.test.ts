import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdirSync, truncateSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { deployment, pythonImage, restrictedNamespace } from '../node/apps.ts';
import { nodeName } from '../node/configs.ts';
import { getPods, isReady } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { toolOn, type Tool } from './tools.ts';

let nodeTest: NodeTest;
let kubectl: Tool;
const installation = getToken(0xc0_ffee);
const tokens: Record<string, string> = {};
const collectors = 'app.kubernetes.io/component=node-collector';
const namespaces = { shop: true, bank: true, quiet: false };

beforeAll(async () => {
  const kubelet = { containerLogMaxSize: '1Mi', containerLogMaxFiles: 5, containerLogMonitorInterval: '3s' };
  nodeTest = await NodeTest.start(
    {
      clusterCollection: { logs: { enabled: true }, metrics: { enabled: true, frequency: '2s' } },
      kubeStateMetrics: { install: false },
    },
    { kubelet },
  );
  kubectl = await toolOn(nodeTest.system.node, 'kubectl');
  await nodeTest.secret('lumigo-system', installation);
  for (const [namespace, enabled] of Object.entries(namespaces)) {
    const spec = {
      logging: { enabled },
      infrastructure: { enabled: false },
      tracing: { injection: { enabled: false } },
    };
    tokens[namespace] = (await nodeTest.traced(namespace, spec)).token;
  }
  await nodeTest.apply(restrictedNamespace('foreign'));
  for (const namespace of [...Object.keys(namespaces), 'foreign']) await startTalker(namespace);
  await waitForCollector();
  // Files from before the first poll are read from their end, and lines of a namespace are dropped before its collection begins.
  for (const namespace of ['shop', 'bank'])
    await eventually(
      async () => {
        await say(namespace, 'first', 1);
        expect(await getBodies(namespace)).not.toEqual([]);
      },
      { timeoutMs: 120_000, intervalMs: 1_000 },
    );
}, 500_000);
afterAll(() => nodeTest?.stop());

const silent = ['/usr/bin/python3', '-c', 'import signal; signal.pause()'];

async function startTalker(namespace: string): Promise<void> {
  await nodeTest.apply(deployment(namespace, 'talker', { image: pythonImage, command: silent }));
  await nodeTest.waitForRunning(namespace, 'talker', { instrumented: false });
}

const getCollectors = () => getPods(nodeTest.system.node, 'lumigo-system', collectors);

const waitForCollector = (other = '') =>
  eventually(
    async () => {
      const pods = await getCollectors();
      expect(pods.map((pod) => [isReady(pod), pod.metadata.uid === other])).toEqual([[true, false]]);
    },
    { timeoutMs: 120_000 },
  );

/** Writes numbered lines to the standard output of the pod's own process, with a pause in seconds after each. */
const writer = `import sys, time
name, first, count, size, pause = sys.argv[1], *map(int, sys.argv[2:5]), float(sys.argv[5])
out = open('/proc/1/fd/1', 'w')
for number in range(first, first + count):
    out.write(f"{name} {number} {'x' * size}\\n")
    if pause:
        out.flush()
        time.sleep(pause)
`;

/** Writes lines until a file ends it, and then prints their number. */
const flood = `import os, time
out = open('/proc/1/fd/1', 'w')
number = 0
while not os.path.exists('/dev/shm/end'):
    out.write(f"flood {number} {'x' * 8000}\\n")
    out.flush()
    time.sleep(0.0008)
    number += 1
print(number)
`;

const getLines = (name: string, count: number, { first = 0, size = 10 } = {}): string[] =>
  Array.from({ length: count }, (_, index) => `${name} ${first + index} ${'x'.repeat(size)}`);

/** Returns the lines after the pod has written them. */
async function say(
  namespace: string,
  name: string,
  count: number,
  options: { first?: number; size?: number; pause?: number } = {},
) {
  const { first = 0, size = 10, pause = 0 } = options;
  const args = [name, first, count, size, pause].map(String);
  await kubectl.meanwhile('exec', '-n', namespace, 'deploy/talker', '--', '/usr/bin/python3', '-c', writer, ...args);
  return getLines(name, count, { first, size });
}

const getReceived = async (namespace: string) =>
  (await nodeTest.system.sink.received()).filter(
    ({ scope, resource }) =>
      scope === 'lumigo-operator.log_file_collector' && resource['k8s.namespace.name'] === namespace,
  );

const getBodies = async (namespace: string): Promise<string[]> =>
  (await getReceived(namespace)).map(({ item }) => String('body' in item ? item.body : ''));

/** A lost line fails as a missing one, and a doubled line as one too many. */
const waitForLines = (namespace: string, name: string, expected: readonly string[]) =>
  eventually(
    async () => {
      const found = (await getBodies(namespace)).filter((body) => body.startsWith(`${name} `));
      const arrived = new Set(found);
      const missing = expected.filter((line) => !arrived.has(line));
      expect({ missing: missing.slice(0, 3), count: found.length }).toEqual({
        missing: [],
        count: expected.length,
      });
    },
    { timeoutMs: 90_000, intervalMs: 500 },
  );

const getLogFolder = (namespace: string): string => {
  const pods = join(nodeTest.system.node.dir, 'mounts/var/log/pods');
  const pod = readdirSync(pods).find((name) => name.startsWith(`${namespace}_talker`));
  return join(pods, pod ?? '', 'app');
};

describe('log lines of the pods on a node', () => {
  it('leave under the token of their namespace, and only if its Lumigo has logging enabled', async () => {
    for (const namespace of ['quiet', 'foreign']) await say(namespace, 'hello', 10);
    for (const namespace of ['shop', 'bank']) await waitForLines(namespace, 'hello', await say(namespace, 'hello', 10));
    for (const namespace of ['shop', 'bank']) {
      const received = await getReceived(namespace);
      expect(new Set(received.map(({ authorization }) => authorization))).toEqual(
        new Set([`LumigoToken ${tokens[namespace]}`]),
      );
      expect(received.at(-1)?.resource).toMatchObject({ 'k8s.deployment.name': 'talker', 'k8s.container.name': 'app' });
    }
    for (const namespace of ['quiet', 'foreign', 'lumigo-system']) expect(await getBodies(namespace)).toEqual([]);
  });

  it('arrive once each while the kubelet rotates their file', async () => {
    const lines = await say('shop', 'rotated', 20_000, { size: 190, pause: 0.000_5 });
    await waitForLines('shop', 'rotated', lines);
    expect(readdirSync(getLogFolder('shop')).filter((name) => name.startsWith('0.log.')).length).toBeGreaterThan(0);
  });

  it('arrive once each while the collector restarts, and after their file is truncated', async () => {
    const [before] = await getCollectors();
    const saying = say('shop', 'restarted', 1_000, { pause: 0.02 });
    kubectl('delete', 'pod', '-n', 'lumigo-system', '-l', collectors, '--wait=false');
    await waitForCollector(before?.metadata.uid);
    await waitForLines('shop', 'restarted', await saying);
    truncateSync(join(getLogFolder('shop'), '0.log'));
    await waitForLines('shop', 'truncated', await say('shop', 'truncated', 50));
  });
});

/** The essential metrics that the collector of a node scrapes, with the labels that v69's scrape configuration sends. */
const scrapedMetrics: readonly (readonly [name: string, labels: readonly string[]])[] = [
  ['container_cpu_usage_seconds_total', ['cpu', 'id', 'container', 'image', 'name', 'namespace', 'pod']],
  ['container_memory_working_set_bytes', ['id', 'container', 'image', 'name', 'namespace', 'pod']],
  ['node_cpu_seconds_total', ['cpu', 'mode', 'node']],
  ['node_memory_Active_bytes', ['node']],
];

describe('metrics of a node', () => {
  it.each(scrapedMetrics)(
    '%s leaves under the token of the installation, with the labels of v69',
    async (name, labels) => {
      await eventually(
        async () => {
          const all = await nodeTest.system.sink.received();
          const found = all.filter(({ item }) => 'name' in item && item.name === name);
          expect(found.some(({ item }) => labels.every((label) => label in item.attributes))).toBe(true);
          expect(new Set(found.map(({ authorization }) => authorization))).toEqual(
            new Set([`LumigoToken ${installation}`]),
          );
        },
        { timeoutMs: 60_000, intervalMs: 1_000 },
      );
    },
  );

  it('are no others than the essential ones', async () => {
    const all = (await nodeTest.system.sink.received()).filter(({ signal }) => signal === 'metrics');
    const names = new Set(all.flatMap(({ item }) => ('name' in item ? [item.name] : [])));
    expect([...names].filter((name) => !scrapedMetrics.some(([known]) => known === name))).toEqual([]);
  });
});

/** Returns a counter or gauge of the container from the kubelet. */
function getUse(container: string): { readonly seconds: number; readonly bytes: number } {
  const text = kubectl('get', '--raw', `/api/v1/nodes/${nodeName}/proxy/metrics/resource`);
  const read = (metric: string) => {
    const line = text.split('\n').find((each) => each.startsWith(`${metric}{container="${container}"`));
    return Number(line?.split(' ')[1]);
  };
  return { seconds: read('container_cpu_usage_seconds_total'), bytes: read('container_memory_working_set_bytes') };
}

async function measure(title: string, ms: number): Promise<number> {
  const before = ['collector', 'node-exporter'].map(getUse);
  // Read often, because one answer of the sink must not have a whole flood.
  for (const end = Date.now() + ms; Date.now() < end; await sleep(500)) await nodeTest.system.sink.received();
  const after = ['collector', 'node-exporter'].map(getUse);
  const text = ['collector', 'node_exporter'].map((name, index) => {
    const seconds = (after[index]?.seconds ?? NaN) - (before[index]?.seconds ?? NaN);
    const bytes = after[index]?.bytes ?? NaN;
    return `${name} ${(bytes / 1e6).toFixed(0)} MB, ${((seconds * 100_000) / ms).toFixed(1)} % of a core`;
  });
  process.stderr.write(`      ${title}: ${text.join('; ')}\n`);
  return after[0]?.bytes ?? NaN;
}

describe('the collector of a node', () => {
  it('needs less than its memory request while 20 pods write a line per second each', async () => {
    const chatty = ['/usr/bin/python3', '-uc', 'import time\nwhile True: print("still here"), time.sleep(1)'];
    await nodeTest.apply(deployment('bank', 'chatty', { image: pythonImage, command: chatty, replicas: 20 }));
    await nodeTest.waitForRunning('bank', 'chatty', { instrumented: false, replicas: 20, timeoutMs: 120_000 });
    expect(await measure('with 20 pods', 15_000)).toBeLessThan(128 * 2 ** 20);
    kubectl('delete', 'deployment', '-n', 'bank', 'chatty');
  });

  it('sends lines of other pods while one pod writes up to 10 MB a second', async () => {
    const began = Date.now();
    const runInBank = (program: string) =>
      kubectl.meanwhile('exec', '-n', 'bank', 'deploy/talker', '--', '/usr/bin/python3', '-c', program);
    const flooding = runInBank(flood);
    flooding.catch(() => undefined);
    const countFlood = async () => (await getBodies('bank')).filter((body) => body.startsWith('flood ')).length;
    try {
      await eventually(async () => expect(await countFlood()).toBeGreaterThan(0), { timeoutMs: 60_000 });
      await waitForLines('shop', 'meanwhile', await say('shop', 'meanwhile', 100));
      await measure('while one pod floods', 15_000);
    } finally {
      await runInBank("open('/dev/shm/end', 'w')");
    }
    const written = Number(await flooding);
    const arrived = await countFlood();
    const seconds = (Date.now() - began) / 1_000;
    expect(written).toBeGreaterThan(0);
    process.stderr.write(
      `      ${arrived} of ${written} lines of 8 KB arrived within the ${seconds.toFixed(0)} s of the flood\n`,
    );
    const [pod] = await getCollectors();
    expect(pod?.status?.containerStatuses?.map(({ restartCount }) => restartCount)).toEqual([0, 0]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { operatorVersion } from '../../infra/settings/version.ts';
import { lumigo, suffixes, workloadKinds } from '../../runtime/contract.ts';
import { getAddress, isReady, type PodView } from '../node/operator.ts';
import type { Received } from '../otlp-sink/sink.ts';
import { eventually } from '../testing/eventually.ts';
import { quantile } from '../testing/quantile.ts';
import { getToken } from '../testing/telemetry.ts';
import { createWorkload } from '../testing/workloads.ts';
import {
  deployment,
  limitRange,
  muslImage,
  nodeImage,
  podTemplate,
  pythonImage,
  restrictedNamespace,
  service,
} from '../node/apps.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView } from './rollout-view.ts';
import { follow, stopFollowing } from './strict-app.ts';
import { toolOn } from './tools.ts';

let nodeTest: NodeTest;
beforeAll(async () => {
  // A kubelet would shorten the dollar signs, which the configuration therefore escapes.
  nodeTest = await NodeTest.start({ rollout: { soakSeconds: 2 }, cluster: { name: 'sandbox $$' } });
  await beginBatch();
});
afterAll(async () => {
  await stopFollowing();
  await nodeTest?.stop();
});

/** A CronJob takes a minute, so this begins early. A Job needs an injector that a Deployment has verified. */
async function beginBatch(): Promise<void> {
  const { namespace } = await nodeTest.traced('batch');
  await nodeTest.serve(namespace, 'front');
  await new RolloutView(nodeTest).waitForVerified(namespace, 'front');
  // A tracer sends its spans every 5 s, and on a busy machine a second is too short for that.
  const script = `require('http').get('http://front/', (answer) => answer.resume().on('end', () => setTimeout(() => process.exit(0), 20_000)))`;
  const template = (name: string) => {
    const { metadata, spec } = podTemplate(name, { command: ['/nodejs/bin/node', '-e', script] });
    return { metadata, spec: { ...spec, restartPolicy: 'Never' } };
  };
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace, name: 'once' },
    spec: { template: template('once') },
  };
  await nodeTest.waitForWebhook(namespace, job);
  await nodeTest.apply(job);
  expect(await nodeTest.isInstrumented(workloadKinds.job, namespace, 'once')).toBe(true);
  await nodeTest.apply({
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { namespace, name: 'nightly' },
    spec: { schedule: '* * * * *', jobTemplate: { spec: { template: template('nightly') } } },
  });
}

const of =
  (namespace: string, name: string) =>
  ({ resource }: Received): boolean =>
    resource['k8s.namespace.name'] === namespace && resource['service.name'] === name;

/** Several run concurrently, each in its own namespace, because they mostly wait for pods. */
describe('programs without a line of tracing', () => {
  it.concurrent("in Node.js and Python are traced, under their namespace's token, with their origin", async () => {
    const { namespace, token } = await nodeTest.traced('shop');
    const env = [{ name: 'BACKEND', value: 'http://stock.shop.svc.cluster.local/' }];
    const [url = ''] = await Promise.all([
      nodeTest.serve(namespace, 'front', { env }),
      nodeTest.serve(namespace, 'stock', { image: pythonImage }),
    ]);
    for (const [app, language] of [
      ['front', 'nodejs'],
      ['stock', 'python'],
    ] as const) {
      const [pod] = await nodeTest.pods(namespace, app);
      const [span] = await nodeTest.countSpans(url, of(namespace, app));
      expect(span?.authorization).toBe(`LumigoToken ${token}`);
      expect(span?.resource).toMatchObject({
        'telemetry.sdk.language': language,
        'service.name': app,
        'k8s.pod.name': pod?.metadata.name,
        'k8s.pod.uid': pod?.metadata.uid,
        'k8s.deployment.name': app,
        'k8s.namespace.name': namespace,
        'k8s.node.name': 'sandbox',
        'k8s.cluster.name': 'sandbox $$',
        'lumigo.k8s_operator.version': operatorVersion(),
      });
    }
    const findTraces = async (app: string) => {
      const spans = await nodeTest.countSpans(url, of(namespace, app));
      return new Set(spans.map(({ item }) => 'traceId' in item && item.traceId));
    };
    // The traces of probes have one program. Each attempt asks `front` again, which then asks `stock`.
    await eventually(
      async () => {
        const ofFront = await findTraces('front');
        expect([...(await findTraces('stock'))].some((trace) => ofFront.has(trace))).toBe(true);
      },
      { timeoutMs: 60_000, intervalMs: 500 },
    );
  });

  it.concurrent('on musl, the C library of Alpine, are traced too', async () => {
    const { namespace } = await nodeTest.traced('alpine');
    const url = await nodeTest.serve(namespace, 'front', { image: muslImage });
    const [span] = await nodeTest.countSpans(url, of(namespace, 'front'));
    expect(span?.resource).toMatchObject({ 'telemetry.sdk.language': 'nodejs' });
  });

  it.concurrent('do not send what the settings of their namespace mask', async () => {
    const env = [{ name: 'LUMIGO_SECRET_MASKING_REGEX_ENVIRONMENT', value: '["greeting"]' }];
    const { namespace } = await nodeTest.traced('masked', { tracing: { env } });
    const greeting = { name: 'GREETING', value: 'hello' };
    const url = await nodeTest.serve(namespace, 'front', { env: [greeting] });
    const [span] = await nodeTest.countSpans(url, of(namespace, 'front'));
    expect(span?.resource['process.environ']).toContain('"GREETING":"****"');
  });

  it.concurrent('keep their own preloaded library', async () => {
    const { namespace } = await nodeTest.traced('preloaded');
    const env = [{ name: 'LD_PRELOAD', value: '/lib/x86_64-linux-gnu/libm.so.6' }];
    const url = await nodeTest.serve(namespace, 'own', { env });
    await nodeTest.countSpans(url, of(namespace, 'own'));
    expect(await (await fetch(url)).json()).toEqual({
      shop: 'node',
      preload: '/lib/x86_64-linux-gnu/libm.so.6:/opt/lumigo/injector/lumigo_injector.so',
    });
  });

  it.concurrent('are traced with any security context', async () => {
    const cases = {
      user: { podSecurity: { runAsUser: 4321 } },
      groups: { podSecurity: { runAsUser: 4321, runAsGroup: 4321, fsGroup: 5678 } },
      'read-only': { containerSecurity: { readOnlyRootFilesystem: true } },
      'container-user': { containerSecurity: { runAsUser: 7777, runAsNonRoot: true } },
    };
    const images = { front: nodeImage, stock: pythonImage };
    const apps = Object.entries(cases).flatMap(([name, security]) =>
      Object.entries(images).map(([app, image]) => ({ namespace: `secure-${name}`, app, image, security })),
    );
    for (const name of Object.keys(cases)) await nodeTest.traced(`secure-${name}`);
    const measure = async ({ namespace, app, image, security }: (typeof apps)[number]) =>
      nodeTest.countSpans(await nodeTest.serve(namespace, app, { ...security, image }), of(namespace, app));
    await Promise.all(apps.map(measure));
  });

  it.concurrent('are traced in a DaemonSet, a StatefulSet and a ReplicaSet', async () => {
    const { namespace } = await nodeTest.traced('kinds');
    await nodeTest.waitForWebhook(namespace);
    const spec = (name: string) => ({ selector: { matchLabels: { app: name } }, template: podTemplate(name) });
    await nodeTest.apply(
      { apiVersion: 'apps/v1', kind: 'DaemonSet', metadata: { namespace, name: 'daemon' }, spec: spec('daemon') },
      {
        apiVersion: 'apps/v1',
        kind: 'StatefulSet',
        metadata: { namespace, name: 'stateful' },
        spec: { serviceName: 'stateful', ...spec('stateful') },
      },
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { namespace, name: 'replicas' }, spec: spec('replicas') },
    );
    for (const [name, attribute] of [
      ['daemon', 'k8s.daemonset.name'],
      ['stateful', 'k8s.statefulset.name'],
      ['replicas', 'k8s.replicaset.name'],
    ] as const) {
      await nodeTest.apply(service(namespace, name));
      await nodeTest.waitForRunning(namespace, name);
      const [span] = await nodeTest.countSpans(await nodeTest.getAddress(namespace, name), of(namespace, name));
      expect(span?.resource).toMatchObject({ [attribute]: name });
    }
  });

  it.concurrent('comply with a LimitRange', async () => {
    const { namespace } = await nodeTest.traced('limits');
    const limits = {
      default: { cpu: '500m', memory: '200Mi' },
      defaultRequest: { cpu: '20m', memory: '64Mi' },
      max: { cpu: '500m', memory: '256Mi' },
      min: { cpu: '10m', memory: '16Mi' },
    };
    await nodeTest.apply(limitRange(namespace, limits));
    await nodeTest.countSpans(await nodeTest.serve(namespace, 'front'), of(namespace, 'front'));
  });

  it.concurrent('are traced in a Job and a CronJob', async () => {
    for (const [name, attribute] of [
      ['once', 'k8s.job'],
      ['nightly', 'k8s.cronjob'],
    ] as const)
      await eventually(
        async () => {
          const spans = await nodeTest.system.sink.spans();
          const own = spans.filter(({ resource }) => resource[`${attribute}.name`] === name);
          expect(own.length).toBeGreaterThan(0);
          for (const { resource } of own) expect(resource[`${attribute}.uid`]).toMatch(/^[-0-9a-f]{36}$/);
        },
        // The CronJob runs once a minute, and a busy machine starts its pod late.
        { timeoutMs: 150_000, intervalMs: 500 },
      );
  });
});

describe('a pod', () => {
  async function secondsToRun(namespace: string, name: string, instrumented: boolean): Promise<number> {
    const created = Date.now();
    await nodeTest.apply(
      deployment(namespace, name, { command: ['/nodejs/bin/node', '-e', 'setInterval(() => 0, 1e6)'] }),
    );
    await nodeTest.waitForRunning(namespace, name, { instrumented });
    return (Date.now() - created) / 1_000;
  }
  const median = (figures: readonly number[]) => quantile(figures, 0.5);

  it('starts later by the copy of the injector from an image on the node, by at most 6 s', async () => {
    await nodeTest.apply(restrictedNamespace('without'));
    await nodeTest.traced('with');
    const took = { without: [] as number[], with: [] as number[] };
    for (const round of [1, 2, 3])
      for (const namespace of ['without', 'with'] as const)
        took[namespace].push(await secondsToRun(namespace, `idle-${round}`, namespace === 'with'));
    const without = median(took.without);
    const withInjection = median(took.with);
    const figures = `${without.toFixed(1)} s without the injection, ${withInjection.toFixed(1)} s with it`;
    process.stderr.write(`      a pod runs after ${figures} (medians of 3)\n`);
    expect(withInjection - without).toBeLessThan(6);
  });
});

describe('programs that serve', () => {
  /** The programs of the tests above would compete for the node with those below. */
  beforeAll(async () => {
    const kubectl = await toolOn(nodeTest.system.node, 'kubectl');
    const all = kubectl('get', 'namespaces', '-o', 'name').trim().split('\n');
    const ofTests = all.filter((name) => !/\/(default|kube-.*|lumigo-system)$/.test(name));
    await kubectl.meanwhile('delete', ...ofTests, '--timeout=180s');
  });

  it('fail no request while the injection and its removal replace ten replicas', async () => {
    await nodeTest.apply(restrictedNamespace('busy'));
    // A careful team lets a pod serve until every node has noticed its end.
    const env = [{ name: 'GRACE_MS', value: '5000' }];
    await nodeTest.apply(deployment('busy', 'front', { replicas: 10, env }), service('busy', 'front'));
    await nodeTest.waitForRunning('busy', 'front', { instrumented: false, replicas: 10, timeoutMs: 90_000 });
    const url = await nodeTest.getAddress('busy', 'front');
    const following = follow(nodeTest, 'busy', [url], { pauseMs: 10, clients: 4 });
    await eventually(() => expect(following.asked()).toBeGreaterThan(4));
    const started = Date.now();
    await nodeTest.activate('busy', {}, getToken(1));
    await nodeTest.waitForRunning('busy', 'front', { replicas: 10, timeoutMs: 120_000 });
    const injected = Date.now();
    await nodeTest.client.delete({ ...lumigo, namespace: 'busy', name: 'lumigo' });
    await nodeTest.waitForRunning('busy', 'front', { instrumented: false, replicas: 10, timeoutMs: 120_000 });
    const { asked, failures } = await following.stop();
    process.stderr.write(
      `      ${asked} requests, ${failures.length} failed; 10 replicas instrumented in ${((injected - started) / 1_000).toFixed(1)} s, clean again after ${((Date.now() - injected) / 1_000).toFixed(1)} s\n`,
    );
    expect(asked).toBeGreaterThan(100);
    expect(failures).toEqual([]);
  });
});

/** With LUMIGO_ATTACK_SECONDS=600 it measures what docs/contributing/reliability.md reports. */
const seconds = Number(process.env['LUMIGO_ATTACK_SECONDS'] ?? 10);
const ATTACKERS = 20;
/** Real attackers have their own machines; here they share two cores with everything that they attack. */
const EACH = { requests: { cpu: '1m', memory: '32Mi' }, limits: { cpu: '40m' } };

async function program(): Promise<string> {
  const entry = fileURLToPath(new URL('../testing/attack.ts', import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  return outputFiles[0]?.text ?? '';
}

async function creating(namespace: string, durationMs: number) {
  const { deployment: kind } = workloadKinds;
  const took = [] as number[];
  const missed = [] as string[];
  const until = Date.now() + durationMs;
  const one = async (worker: number): Promise<void> => {
    for (let index = 0; Date.now() < until; index += 1) {
      const name = `dry-${worker}-${index}`;
      const started = performance.now();
      const { object } = await nodeTest.client.create({ ...kind, namespace }, createWorkload(kind, namespace, name), {
        dryRun: true,
      });
      took.push(performance.now() - started);
      if (!JSON.stringify(object).includes('"lumigo-injector"')) missed.push(name);
      await sleep(100);
    }
  };
  await Promise.all([0, 1, 2, 3].map(one));
  const at = (share: number) => Math.round(quantile(took, share));
  return { asked: took.length, missed: missed.length, medianMs: at(0.5), p99Ms: at(0.99), longestMs: at(1) };
}

const countRestarts = (pods: readonly PodView[]) =>
  pods.map(({ metadata, status }) => [
    metadata.name,
    ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount),
  ]);

it(
  'twenty attacking pods restart no replica and delay no deployment [F21]',
  async () => {
    const { namespace } = await nodeTest.traced('attacked');
    const before = countRestarts(await nodeTest.operatorPods());
    const quiet = await creating(namespace, 5_000);
    const webhook = `lumigo-lumigo-operator${suffixes.webhookService}`;
    const { hostname } = new URL(await getAddress(nodeTest.client, 'lumigo-system', webhook));
    const env = [
      { name: 'ATTACK_HOST', value: hostname },
      { name: 'ATTACK_PORT', value: '443' },
    ];
    const command = ['/nodejs/bin/node', '--input-type=module', '-e', await program()];
    await nodeTest.apply(restrictedNamespace('attackers'));
    await nodeTest.apply(
      deployment('attackers', 'attack', { replicas: ATTACKERS, env, command, resources: EACH, labels: {} }),
    );
    await eventually(
      async () => expect((await nodeTest.pods('attackers', 'attack')).filter(isReady)).toHaveLength(ATTACKERS),
      { timeoutMs: 120_000, intervalMs: 1_000 },
    );
    await sleep(5_000);
    const attacked = await creating(namespace, seconds * 1_000);
    const attackers = await nodeTest.pods('attackers', 'attack');
    process.stderr.write(`      ${ATTACKERS} pods attack for ${seconds} s: ${JSON.stringify({ quiet, attacked })}\n`);
    expect(attackers.filter(isReady)).toHaveLength(ATTACKERS);
    expect(countRestarts(await nodeTest.operatorPods())).toEqual(before);
    expect(attacked.missed).toBe(0);
    expect(attacked.asked).toBeGreaterThan(seconds * 10);
    // A busy machine is slow without an attack as well.
    expect(attacked.p99Ms).toBeLessThan(Math.max(500, 10 * quiet.p99Ms));
  },
  (seconds + 300) * 1_000,
);

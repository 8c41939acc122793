import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { operatorVersion } from '../../infra/settings/version.ts';
import { workloadKinds } from '../../runtime/contract.ts';
import type { Received } from '../otlp-sink/sink.ts';
import { eventually } from '../testing/eventually.ts';
import { limitRange, muslImage, nodeImage, podTemplate, pythonImage, service } from '../node/apps.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView } from './rollout-view.ts';

let nodeTest: NodeTest;
beforeAll(async () => {
  // A kubelet would shorten the dollar signs, which the configuration therefore escapes.
  nodeTest = await NodeTest.start({ rollout: { soakSeconds: 2 }, cluster: { name: 'sandbox $$' } });
  await beginBatch();
});
afterAll(() => nodeTest?.stop());

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

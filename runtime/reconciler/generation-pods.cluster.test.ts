import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { getLiveHeap } from '../../bench/live-heap.ts';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../sandbox/control-plane/control-plane.ts';
import { runtimeConfig } from '../../infra/constructs/runtime-environment.ts';
import { parseSettings } from '../../infra/settings/settings.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { instrumentedByOriginal } from '../../sandbox/original/injected.ts';
import { etcdAt } from '../../sandbox/testing/etcd.ts';
import { instrumented, withMetadata } from '../../sandbox/testing/injection.ts';
import { podMode } from '../../sandbox/testing/pod-policy.ts';
import { TestCluster } from '../../sandbox/testing/test-cluster.ts';
import { createWorkload, getPod } from '../../sandbox/testing/workloads.ts';
import { annotations, pods, workloadKinds, type WorkloadKind } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { Workload } from '../api/objects.ts';
import { uninstrument } from '../injection/remove.ts';
import { toTemplate } from '../injection/workload.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { Manifest } from '../kubernetes/resources/objects.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { PodCounts, type PodsSeen } from '../pod-mode/pod-counts.ts';
import { createReconcilerApi } from './api.ts';
import { brokenPods, lookAt, podsOfGeneration } from './generation-pods.ts';

let cluster: ControlPlane;
let testCluster: TestCluster;
let transport: Transport;
let client: Client;
let pages = 0;
let onPage: () => unknown = () => undefined;

beforeAll(async () => {
  const apiServerFlags = ['--disable-admission-plugins=ServiceAccount'];
  cluster = await startControlPlane({ controllerManager: false, apiServerFlags });
  testCluster = new TestCluster(cluster.client);
  const onRequest = () => {
    pages += 1;
    onPage();
  };
  transport = connectTo(cluster, { onRequest });
  client = createClient(transport);
});
beforeEach(() => {
  pages = 0;
});
afterAll(async () => {
  transport?.close();
  await cluster?.stop();
});

const { cronJob, daemonSet, deployment, replicaSet, statefulSet } = workloadKinds;

async function create(kind: WorkloadKind, namespace: string, name: string): Promise<Workload> {
  const injected = instrumented(createWorkload(kind, namespace, name) as unknown as Workload);
  await testCluster.create(injected as unknown as Manifest);
  return testCluster.get(kind, namespace, name);
}

/** No controller runs, so the test reports that the nodes have pods. */
async function createOnNodes(namespace: string, name: string): Promise<Workload> {
  await create(daemonSet, namespace, name);
  await testCluster.setStatus(
    { ...daemonSet, namespace, name },
    {
      observedGeneration: 1,
      desiredNumberScheduled: 40,
      currentNumberScheduled: 40,
      numberMisscheduled: 0,
      numberReady: 0,
    },
  );
  return testCluster.get(daemonSet, namespace, name);
}

type Labels = Readonly<Record<string, string>>;

/** The record in its annotation stays. */
const withMirror = (of: Workload): Workload =>
  JSON.parse(JSON.stringify(of).replaceAll('"image":"autotrace:2"', '"image":"mirror/autotrace:2"')) as Workload;

const toOwner = ({ kind, metadata: { name = '', uid = '' } }: Workload) => ({ kind, name, uid });

/** Stores thousands of objects faster than the API server does, each in its own transaction if they are large. */
async function store(plural: string, objects: readonly Pick<Workload, 'metadata'>[], areLarge = false): Promise<void> {
  const stored = objects.map(({ metadata, ...rest }) => {
    const created = { uid: randomUUID(), creationTimestamp: '2026-11-28T20:00:00Z' };
    const key = `/registry/${plural}/${metadata.namespace}/${metadata.name}`;
    return { key, object: { ...rest, metadata: { ...metadata, ...created } } };
  });
  const transactions = areLarge ? stored.map((each) => [each]) : [stored];
  for (const each of transactions) await etcdAt(cluster.etcd).store(each);
}

/** `others`: further owners. */
interface PodOptions {
  readonly labels?: Labels;
  readonly owner?: ReturnType<typeof toOwner>;
  readonly others?: readonly (ReturnType<typeof toOwner> & { readonly apiVersion: string })[];
  readonly status?: object;
}

/** Creates pods of a workload's present template, as its controller would. */
async function createPods(
  of: Workload,
  number: number,
  { labels, owner = toOwner(of), others = [], status }: PodOptions = {},
): Promise<void> {
  const { metadata, spec } = toTemplate(of) ?? {};
  const ownerReferences = [{ apiVersion: of.apiVersion, controller: true, ...owner }, ...others];
  const generation = of.kind === 'DaemonSet' ? { 'pod-template-generation': '1' } : {};
  const { namespace = '' } = of.metadata;
  const each = Array.from({ length: number }, (_, index) => {
    const own = { namespace, name: `${owner.name}-${index}`, ownerReferences };
    const labelled = { ...metadata, labels: { ...metadata?.labels, ...generation, ...labels } };
    return { apiVersion: 'v1', kind: 'Pod', spec, status, metadata: { ...labelled, ...own } };
  });
  await store('pods', each, status !== undefined);
}

describe('the broken pods of a StatefulSet', () => {
  let injected: Workload;
  beforeAll(async () => {
    injected = await create(statefulSet, await testCluster.namespace('broken'), 'db');
    await createPods(injected, 4, { labels: { 'controller-revision-hash': 'one' } });
    const { namespace } = injected.metadata;
    const merge = (name: string, annotations: Labels | null) =>
      testCluster.client.patch({ ...pods, namespace, name }, { kind: 'merge', body: { metadata: { annotations } } });
    await merge('db-1', null);
    // As Pod mode's policy writes it.
    const record = '{"endpoint":"http://proxy","secretName":"a","secretKey":"b","traces":true,"logs":false}';
    await merge('db-3', { [annotations.injection]: record });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await testCluster.setStatus({ ...pods, namespace, name: 'db-2' }, { conditions });
  });

  it('are none while its template has the injection', async () => {
    expect(await brokenPods(injected, client)).toEqual([]);
  });

  it('are those that have the injection of its former template, and not that of Pod mode', async () => {
    expect(await brokenPods(uninstrument(injected), client)).toMatchObject([{ name: 'db-0' }]);
  });

  it('are none below a partition, where the controller would make the same pod again', async () => {
    const clean = uninstrument(injected);
    const found = (partition: number, currentRevision: string) => {
      const spec = { ...(clean['spec'] as object), updateStrategy: { rollingUpdate: { partition } } };
      return brokenPods({ ...clean, spec, status: { currentRevision } }, client);
    };
    expect(await found(1, 'one')).toEqual([]);
    for (const pods of [await found(1, 'two'), await found(0, 'one')]) expect(pods).toMatchObject([{ name: 'db-0' }]);
  });
});

describe('the pods that are looked at', () => {
  /** More than a page. */
  const MANY = 55;
  let namespace: string;
  let agent: Workload;
  beforeAll(async () => {
    namespace = await testCluster.namespace('looked-at');
    agent = await createOnNodes(namespace, 'b');
    await createPods(await createOnNodes(namespace, 'a'), MANY);
    await createPods(agent, 25);
    const evicted = { phase: 'Failed', reason: 'Evicted' };
    await createPods(agent, 20, { owner: { ...toOwner(agent), name: 'a-evicted' }, status: evicted });
  });

  it('are those of a DaemonSet, whatever number of pods another one of the same generation has', async () => {
    const found = await podsOfGeneration(agent, client);
    expect(new Set(found.map(({ name }) => name.slice(0, 1)))).toEqual(new Set(['b']));
    expect([found.length, found[0]?.injected.size, pages]).toEqual([20, 1, 1]);
  });

  it("are a CronJob's own before those of other workloads", async () => {
    const job = await create(cronJob, namespace, 'nightly');
    await createPods(job, 2, { owner: { kind: 'Job', name: 'nightly-29', uid: 'a Job' } });
    expect(await podsOfGeneration(job, client)).toMatchObject([{ name: 'nightly-29-0' }, { name: 'nightly-29-1' }]);
    expect(pages).toBe(1);
  });

  it('are those of a Job also if its node evicted them, because the injector may have run', async () => {
    const job = await create(cronJob, namespace, 'hourly');
    const status = { phase: 'Failed', reason: 'Evicted' };
    await createPods(job, 1, { owner: { kind: 'Job', name: 'hourly-29', uid: 'a Job' }, status });
    expect(await podsOfGeneration(job, client)).toMatchObject([{ name: 'hourly-29-0' }]);
  });

  it('are its own also if another webhook changed the image of its pods', async () => {
    const job = await create(cronJob, namespace, 'weekly');
    await createPods(withMirror(job), 1, { owner: { kind: 'Job', name: 'weekly-29', uid: 'a Job' } });
    expect(await podsOfGeneration(job, client)).toMatchObject([{ name: 'weekly-29-0' }]);
  });

  it('show the failures of injected init containers also, but not twice those of the injector', async () => {
    const named = { [annotations.injectContainers]: 'app,migrate' };
    const initContainers = ['wait', 'migrate'].map((name) => ({ name, image: 'init:1' }));
    const plain = createWorkload(cronJob, namespace, 'yearly', { pod: { initContainers } }) as unknown as Workload;
    const job = await testCluster.create(
      instrumented(withMetadata(plain, { annotations: named })) as unknown as Manifest,
    );
    const own = { ...job, apiVersion: cronJob.apiVersion, kind: cronJob.kind };
    await createPods(own, 1, { owner: { kind: 'Job', name: 'yearly-29', uid: 'a Job' } });
    const [pod] = await podsOfGeneration(own, client);
    expect([...(pod?.injected ?? [])]).toEqual(['app', 'migrate']);
  });

  it('are none for an adopted injection of the original, without a list', async () => {
    const original = instrumentedByOriginal(createWorkload(cronJob, namespace, 'old') as unknown as Workload);
    const job = await testCluster.create(original as unknown as Manifest);
    await createPods(job as Workload, 1, { owner: { kind: 'Job', name: 'old-29', uid: 'a Job' } });
    expect(await podsOfGeneration(job as Workload, client)).toEqual([]);
    expect(pages).toBe(0);
  });

  it.each([
    ['are those of a DaemonSet also if others have all of its labels', MANY, ['b-0', 'b-1'], 2],
    ['are on at most twenty pages', 1_000, [], 20],
  ])('%s', async (_title, others, names, read) => {
    const crowded = await testCluster.namespace('crowded');
    const own = await createOnNodes(crowded, 'b');
    await createPods(await createOnNodes(crowded, 'a'), others, { labels: { app: 'b' } });
    await createPods(own, 2);
    expect((await podsOfGeneration(own, client)).map(({ name }) => name)).toEqual(names);
    expect(pages).toBe(read);
  });
});

describe('a look at a CronJob without pods', () => {
  const { job } = workloadKinds;
  const startTime = '2026-11-30T03:00:00Z';
  let namespace: string;
  let own: Workload;
  beforeAll(async () => {
    namespace = await testCluster.namespace('refused');
    own = await create(cronJob, namespace, 'nightly');
    const former = createWorkload(job, namespace, 'former');
    for (const each of [
      former,
      { ...former, metadata: { namespace, name: 'new' }, spec: { template: toTemplate(own) } },
    ]) {
      await testCluster.create(each);
      await testCluster.setStatus({ ...job, namespace, name: each.metadata.name }, { startTime });
    }
  });

  it.each<[title: string, names: readonly string[], cause: string | undefined, lastSuccessfulTime?: string]>([
    ['finds that the API server refuses those of its newest Job', ['former', 'new'], 'PodsRefused'],
    ['finds nothing if that Job has a former pod template', ['new', 'former'], undefined],
    ['finds nothing if that Job no longer exists', ['new', 'deleted'], undefined],
    ['finds nothing if none runs', [], undefined],
    ['finds the same also if a Job succeeded before the injection', ['new'], 'PodsRefused', '2020-01-01T00:00:00Z'],
    ['finds nothing if a Job has succeeded since the injection', ['new'], undefined, '2100-01-01T00:00:00Z'],
  ])('%s', async (_title, ...[names, cause, lastSuccessfulTime]) => {
    const active = names.map((name) => ({ kind: 'Job', namespace, name }));
    await testCluster.setStatus({ ...cronJob, namespace, name: 'nightly' }, { active, lastSuccessfulTime });
    const { evidence } = await lookAt(await testCluster.get(cronJob, namespace, 'nightly'), client);
    expect(evidence?.cause).toBe(cause);
  });
});

/** Returns how much the memory grew at each fourth request and at the end. A page and its text have up to 8 MiB. */
async function measure<T>(work: () => Promise<T>): Promise<{ readonly found: T; readonly bytes: number }> {
  const used = [getLiveHeap()];
  // The collection of all garbage takes half a second in a process that ran many tests.
  onPage = () => pages % 4 === 0 && used.push(getLiveHeap());
  const found = await work();
  used.push(getLiveHeap());
  onPage = () => undefined;
  return { found, bytes: Math.max(...used) - Math.min(...used) };
}

describe('a look at what a tenant made large', () => {
  it('keeps neither the owners nor the long status of a pod [F66]', async () => {
    const namespace = await testCluster.namespace('large');
    const agent = await createOnNodes(namespace, 'agent');
    const others = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x'.repeat(700_000), uid: 'x' }];
    const containerStatuses = [{ name: 'app', image: 'x'.repeat(400_000), imageID: '', ready: false, restartCount: 0 }];
    await createPods(agent, 20, { others, status: { containerStatuses } });
    const { found, bytes } = await measure(() => podsOfGeneration(agent, client));
    expect(bytes).toBeLessThan(12e6);
    expect(found).toHaveLength(20);
    expect(JSON.stringify(found).length).toBeLessThan(10_000);
  });

  it('counts pods in Pod mode without their annotations or forged owners in memory [F66]', async () => {
    const namespace = await testCluster.namespace('counted');
    const long = 'x'.repeat(250_000);
    const many = Array.from({ length: 40 }, (_, index) => {
      const pod = getPod(namespace, `pod-${index}`);
      const owner = { apiVersion: 'v1', kind: 'StatefulSet', controller: true, name: long, uid: `${long}${index}` };
      return { ...pod, metadata: { ...pod.metadata, annotations: { long }, ownerReferences: [owner] } };
    });
    await store('pods', many, true);
    const lumigo = getLumigo(namespace, podMode) as unknown as LumigoResource;
    const time = { reason: 'Ready', message: '', lastTransitionTime: '2026-11-28T20:00:00Z' } as const;
    const lumigoes = new LumigoStore([]);
    lumigoes.upsert({
      ...lumigo,
      metadata: { ...lumigo.metadata, uid: 'a', resourceVersion: '1' },
      status: { conditions: [{ type: 'Active', status: 'True', ...time }] },
    });
    const config = { ...runtimeConfig(parseSettings({}), 'Manifests'), podName: 'a' };
    const { found, bytes } = await measure(async () => {
      const stop = new AbortController();
      let onSeen: (namespace: string, seen: PodsSeen | undefined) => void = () => undefined;
      const first = new Promise<PodsSeen | undefined>((resolve) => (onSeen = (_namespace, seen) => resolve(seen)));
      const logger = pino({ level: 'silent' });
      const counts = new PodCounts({ transport, lumigoes, synced: Promise.resolve(), onSeen, logger, config });
      const running = counts.run({ signal: stop.signal, fence: () => undefined, previousRenewTime: undefined });
      const seen = await first;
      stop.abort();
      await running;
      return seen;
    });
    expect(bytes).toBeLessThan(16e6);
    expect(found).toMatchObject({ injected: 0, without: 20, isPartial: true });
  });

  it('ends after 1,000 ReplicaSets with the labels of a Deployment', async () => {
    const namespace = await testCluster.namespace('many');
    await create(deployment, namespace, 'web');
    await testCluster.merge(deployment, namespace, 'web', { spec: { replicas: 1 } });
    await testCluster.setStatus({ ...deployment, namespace, name: 'web' }, { observedGeneration: 2, replicas: 1 });
    const web = await testCluster.get(deployment, namespace, 'web');
    const podTemplateHash = { 'pod-template-hash': 'abc' };
    const newest = createWorkload(replicaSet, namespace, 'web', {
      labels: podTemplateHash,
      podLabels: podTemplateHash,
    });
    const ownerReferences = [{ apiVersion: 'apps/v1', controller: true, ...toOwner(web) }];
    const annotations = { 'deployment.kubernetes.io/revision': '1' };
    const { metadata } = await testCluster.create({
      ...newest,
      metadata: { ...newest.metadata, annotations, ownerReferences },
    });
    await createPods(web, 1, {
      labels: podTemplateHash,
      owner: { kind: 'ReplicaSet', name: 'web', uid: metadata.uid ?? '' },
    });
    expect(await podsOfGeneration(web, client)).toMatchObject([{ name: 'web-0' }]);
    const labels = { app: 'web' };
    const others = Array.from({ length: 1_000 }, (_, index) =>
      createWorkload(replicaSet, namespace, `other-${index}`, { labels }),
    );
    await store('replicasets', others);
    pages = 0;
    expect(await podsOfGeneration(web, client)).toEqual([]);
    expect(pages).toBe(21);
  });
});

describe('a namespace', () => {
  it('has no Lumigo resource if their definition does not exist', async () => {
    expect(await createReconcilerApi(client).hasLumigo('default')).toBe(false);
  });
});

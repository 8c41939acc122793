import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeChart } from '../../infra/helm/chart.ts';
import type { Manifest } from '../../infra/constructs/manifest.ts';
import { annotations, lumigo as contract, originalLease } from '../../runtime/contract.ts';
import type { Workload } from '../../runtime/api/objects.ts';
import { listAll } from '../../runtime/kubernetes/http/client.ts';
import { getLumigo, getSecret } from '../lumigo.ts';
import { apply } from '../manager/apply.ts';
import { deployment, nodeImage, service } from '../node/apps.ts';
import { isReady, getPods, waitForOperator, type PodView } from '../node/operator.ts';
import { writeOriginalChart } from '../original/chart.ts';
import { instrumentedByOriginal } from '../original/injected.ts';
import { originalRelease } from '../original/recorded.ts';
import { eventually } from '../testing/eventually.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { follow, servesAlways, stopFollowing } from './strict-app.ts';
import { getInitContainers, setting, toolOn, type Tool } from './tools.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

/** Another program runs in the pods of the original's recorded objects, and the test renews its Lease. */
let nodeTest: NodeTest;
let release: Tool;
let kubectl: Tool;
let ours: string;
const token = getToken(0x51_0000);
const image = 'public.ecr.aws/lumigo/lumigo-autotrace:latest';
const covered = Array.from({ length: 18 }, (_, index) => `app-${index}`);
const alone = ['alone-0', 'alone-1'];
const manager = 'lumigo-lumigo-operator-controller-manager';

beforeAll(async () => {
  nodeTest = await NodeTest.bare();
  const { node, sink } = nodeTest.system;
  release = await toolOn(node, 'helm', '--namespace', 'lumigo-system');
  kubectl = await toolOn(node, 'kubectl');
  const folder = mkdtempSync(join(node.dir, 'takeover-'));
  ours = join(folder, 'ours');
  writeChart(ours);
  writeOriginalChart(join(folder, 'original'), [standIn()]);
  const values = {
    'endpoint.otlp.url': sink.url,
    'cluster.name': 'production',
    'lumigoToken.value': token,
    'clusterCollection.metrics.enabled': 'true',
    'clusterCollection.logs.enabled': 'true',
  };
  release('install', 'lumigo', join(folder, 'original'), '--create-namespace', '--no-hooks', ...setting(values));
  await lease('original-0');
  await workloadsOfTheOriginal();
});
afterAll(async () => {
  await stopFollowing();
  await nodeTest?.stop();
});

function standIn(): Manifest {
  const found = originalRelease().objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === manager,
  );
  const { template, ...spec } = found?.['spec'] as { template: { metadata: object; spec: object } };
  const idle = ['manager', 'events-scraper', 'kube-rbac-proxy', 'namespace-config-server'].map((name) => ({
    name,
    image: nodeImage,
    imagePullPolicy: 'IfNotPresent',
    command: ['sleep', '86400'],
  }));
  const { serviceAccountName, terminationGracePeriodSeconds } = template.spec as Record<string, unknown>;
  const pod = { serviceAccountName, terminationGracePeriodSeconds, containers: idle };
  return { ...found, spec: { ...spec, template: { ...template, spec: pod } } } as Manifest;
}

const leaseRef = { ...kinds.leases, namespace: 'lumigo-system' };

function lease(holderIdentity: string) {
  const renewTime = new Date().toISOString().replace('Z', '000Z');
  const metadata = { namespace: 'lumigo-system', name: originalLease };
  const spec = { holderIdentity, leaseDurationSeconds: 15, renewTime };
  const manifest = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  return apply(nodeTest.client, manifest, 'original');
}

async function workloadsOfTheOriginal(): Promise<void> {
  const instrumented = (namespace: string, name: string) =>
    instrumentedByOriginal(deployment(namespace, name, { resources: servesAlways }) as unknown as Workload, {
      image,
      imagePullPolicy: 'IfNotPresent',
    });
  for (const [namespace, names] of [
    ['shop', covered],
    ['alone', alone],
  ] as const) {
    await nodeTest.apply(
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
      getSecret(namespace, token),
    );
    for (const name of names) await nodeTest.apply(instrumented(namespace, name), service(namespace, name));
  }
  const defaulter = ['mutatingwebhookconfiguration', 'lumigo-lumigo-operator-defaulter-webhook-configuration'];
  const failing = (policy: string) => {
    const patch = `[{"op":"replace","path":"/webhooks/0/failurePolicy","value":"${policy}"}]`;
    return kubectl('patch', ...defaulter, '--type=json', '-p', patch);
  };
  failing('Ignore');
  await eventually(() => nodeTest.apply(getLumigo('shop')));
  failing('Fail');
  await eventually(async () => expect((await apps()).filter(isReady)).toHaveLength(20), { timeoutMs: 180_000 });
}

async function apps(): Promise<PodView[]> {
  const { node } = nodeTest.system;
  return [...(await getPods(node, 'shop')), ...(await getPods(node, 'alone'))];
}

const getLives = async () =>
  (await apps())
    .map(({ metadata, status }) =>
      [metadata.uid, ...(status?.containerStatuses ?? []).map(({ restartCount }) => restartCount)].join(' '),
    )
    .toSorted();

const uidOfLumigo = async () =>
  (await nodeTest.client.get({ ...contract, namespace: 'shop', name: 'lumigo' })).metadata.uid;

const addresses = () =>
  Promise.all([
    ...covered.map((name) => nodeTest.getAddress('shop', name)),
    ...alone.map((name) => nodeTest.getAddress('alone', name)),
  ]);

/** Renews the original's Lease while a pod of it exists, as its program would. Resolves with the time of the end. */
async function whileTheOriginalLives(): Promise<number> {
  const isOriginals = ({ metadata }: PodView) => metadata.labels?.['app.kubernetes.io/component'] === undefined;
  const left = async () =>
    (await getPods(nodeTest.system.node, 'lumigo-system', 'control-plane=controller-manager')).filter(isOriginals);
  while ((await left()).length > 0) {
    await lease('original-0');
    await sleep(500);
  }
  const released = Date.now();
  await lease('');
  return released;
}

async function injectionStatuses(): Promise<string[]> {
  const list = (namespace: string) => listAll(nodeTest.client, { ...kinds.deployments, namespace });
  const found = (await Promise.all(['shop', 'alone'].map(list))).flat();
  return found.map(({ metadata }) => metadata.annotations?.[annotations.instrumentation] ?? '');
}

/** kube-state-metrics cannot be built here, so this release has none of its own. */
const upgrade = () => [
  ...['upgrade', 'lumigo', ours, '--reset-then-reuse-values', '--wait', '--timeout', '180s'],
  ...setting({ 'kubeStateMetrics.install': 'false' }),
];

describe('a release of the original with 20 instrumented workloads [F51]', () => {
  let lives: readonly string[] = [];
  let uid: string | undefined;

  it('is upgraded under requests, and no request fails and no pod restarts', async () => {
    [lives, uid] = [await getLives(), await uidOfLumigo()];
    const following = follow(nodeTest, 'shop', await addresses(), { pauseMs: 200 });
    const over = whileTheOriginalLives();
    await release.meanwhile(...upgrade());
    await waitForOperator(nodeTest.system.node);
    const adopted = async () => (await injectionStatuses()).filter((text) => text.startsWith('adopted'));
    await eventually(async () => expect(await adopted()).toHaveLength(20), { timeoutMs: 60_000 });
    await sleep(5_000);
    // A busy machine sends fewer requests in the same time.
    await eventually(() => expect(following.asked()).toBeGreaterThan(1_000), { timeoutMs: 60_000 });
    const { asked, failures } = await following.stop();
    process.stderr.write(`      ${asked} requests during the upgrade, ${failures.length} failed\n`);
    expect(failures).toEqual([]);
    expect(await getLives()).toEqual(lives);
    const { spec } = (await nodeTest.client.get({ ...leaseRef, name: 'lumigo-lumigo-operator-leader' })) as unknown as {
      spec: { acquireTime: string };
    };
    // The operator checks once a second, and both clocks are this machine's.
    expect(Date.parse(spec.acquireTime)).toBeGreaterThan((await over) - 600);
  });

  it('keeps its Lumigo, which is active', async () => {
    expect(await uidOfLumigo()).toBe(uid);
    kubectl('wait', 'lumigo/lumigo', '-n', 'shop', '--for=condition=Active', '--timeout=30s');
  });

  it('runs the collector of the node, for which its values ask', () => {
    const daemonSet = 'daemonset/lumigo-lumigo-operator-node-collector';
    kubectl('rollout', 'status', daemonSet, '-n', 'lumigo-system', '--timeout=60s');
  });

  it('continues to trace, also workloads that opted in by their label alone [F50]', async () => {
    for (const [namespace, name] of [
      ['shop', 'app-0'],
      ['alone', 'alone-0'],
    ] as const) {
      const url = await nodeTest.getAddress(namespace, name);
      const [span] = await nodeTest.countSpans(url, ({ resource }) => resource['k8s.namespace.name'] === namespace);
      expect(span?.authorization).toBe(`LumigoToken ${token}`);
    }
  });

  it('is rolled back and upgraded again, and no pod restarts', async () => {
    release('rollback', 'lumigo', '1', '--no-hooks');
    const account = { ...kinds.serviceAccounts, namespace: 'lumigo-system', name: manager };
    await eventually(async () => expect(await nodeTest.client.find(account)).toBeUndefined(), { timeoutMs: 90_000 });
    // The objects wait for the account, and Kubernetes' garbage collector deletes them a moment later.
    const rights = () => kubectl('get', 'clusterrole,clusterrolebinding', '-o', 'name');
    await eventually(() => expect(rights()).not.toContain(`${manager}-role`), { timeoutMs: 60_000 });
    expect([await uidOfLumigo(), await getLives()]).toEqual([uid, lives]);
    const over = whileTheOriginalLives();
    await release.meanwhile(...upgrade());
    await over;
    await waitForOperator(nodeTest.system.node);
    expect([await uidOfLumigo(), await getLives()]).toEqual([uid, lives]);
  }, 400_000);

  it("is removed whole: a Lumigo's workloads with it, the others with the release", async () => {
    kubectl('delete', 'lumigo', 'lumigo', '-n', 'shop', '--timeout=120s');
    for (const name of covered) expect(getInitContainers(kubectl, 'shop', name)).toBe('');
    expect(getInitContainers(kubectl, 'alone', 'alone-0')).toBe('lumigo-injector');
    release('delete', 'lumigo', '--wait', '--timeout', '120s');
    for (const name of alone) expect(getInitContainers(kubectl, 'alone', name)).toBe('');
    const label = 'jsonpath={.metadata.labels.lumigo\\.auto-trace}';
    expect(kubectl('get', 'deployment', 'alone-0', '-n', 'alone', '-o', label)).toBe('true');
  });
});

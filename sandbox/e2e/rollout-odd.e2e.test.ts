import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { workloadKinds } from '../../runtime/contract.ts';
import type { Container, PatchOperation, Resources, Workload } from '../../runtime/api/objects.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/resources/objects.ts';
import { deployment, limitRange, pod, restrictedNamespace, service } from '../node/apps.ts';
import { getPods, type PodView } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { startMutatingWebhook } from '../testing/mutating-webhook.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView } from './rollout-view.ts';
import { follow, prepareStrictApps, stopFollowing, strictDeployment } from './strict-app.ts';

const { deployment: deployments, statefulSet: statefulSets } = workloadKinds;
jest.setTimeout(400_000);
let nodeTest: NodeTest;
let view: RolloutView;
const ends: (() => Promise<void>)[] = [];
beforeAll(async () => {
  nodeTest = await NodeTest.start({ rollout: { soakSeconds: 2, deadlineSeconds: 90 } });
  view = new RolloutView(nodeTest);
});
afterAll(async () => {
  await stopFollowing();
  for (const end of ends) await end();
  await nodeTest?.stop();
});

interface Odd {
  readonly prepare: (namespace: string) => Promise<readonly string[]>;
  readonly outcome: (namespace: string) => Promise<string>;
}

const odd: Readonly<Record<string, Odd>> = {
  quota: {
    async prepare(namespace) {
      const urls = await prepareStrictApps(nodeTest, namespace, { app: 'serve' });
      const spec = { hard: { pods: '2' } };
      await nodeTest.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace, name: 'all' }, spec });
      return urls;
    },
    outcome: (namespace) => view.isBack(namespace, 'app', /PodsRefused/),
  },
  midway: {
    async prepare(namespace) {
      const urls = await prepareStrictApps(nodeTest, namespace, { app: 'serve' });
      await nodeTest.apply(strictDeployment(namespace, 'app', 'never'));
      return urls;
    },
    async outcome(namespace) {
      await view.waitForCondition(namespace, 'Deployment/app is in the middle of');
      expect(await nodeTest.isInstrumented(deployments, namespace, 'app')).toBe(false);
      await nodeTest.apply(strictDeployment(namespace, 'app', 'serve'));
      await nodeTest.waitForRunning(namespace, 'app', { replicas: 2, timeoutMs: 180_000 });
      return 'left, then injected';
    },
  },
  changed: {
    prepare: (namespace) => prepareStrictApps(nodeTest, namespace, { app: 'crash' }),
    async outcome(namespace) {
      await view.waitForInjected(namespace, 'app');
      const mine = { version: '2' };
      await nodeTest.merge(deployments, namespace, 'app', { spec: { template: { metadata: { annotations: mine } } } });
      const back = await view.isBack(namespace, 'app', /Crash|NotReady/);
      expect((await nodeTest.get(deployments, namespace, 'app'))['spec']).toMatchObject({
        template: { metadata: { annotations: mine } },
      });
      return back;
    },
  },
  blocked: {
    async prepare(namespace) {
      const urls = await prepareStrictApps(nodeTest, namespace, { paused: 'serve', good: 'serve' });
      await nodeTest.apply(strictDeployment(namespace, 'failing', 'never'));
      await nodeTest.merge(deployments, namespace, 'paused', { spec: { paused: true } });
      // A rollout by a controller does not consult the disruption budget.
      const spec = { maxUnavailable: 0, selector: { matchLabels: { app: 'good' } } };
      const metadata = { namespace, name: 'none' };
      await nodeTest.apply({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec });
      return urls;
    },
    async outcome(namespace) {
      await nodeTest.waitForRunning(namespace, 'good', { replicas: 2, timeoutMs: 180_000 });
      await view.waitForCondition(
        namespace,
        'Deployment/paused is paused',
        'Deployment/failing has pods that are not available',
      );
      await nodeTest.merge(deployments, namespace, 'paused', { spec: { paused: false } });
      await nodeTest.waitForRunning(namespace, 'paused', { replicas: 2, timeoutMs: 180_000 });
      return 'left, then injected';
    },
  },
  stateful: {
    async prepare(namespace) {
      await nodeTest.apply(restrictedNamespace(namespace));
      const { spec, ...made } = strictDeployment(namespace, 'db', 'crash');
      const set = { ...made, kind: 'StatefulSet', spec: { ...(spec as object), serviceName: 'db' } };
      await nodeTest.apply(set, service(namespace, 'db'));
      await nodeTest.waitForRunning(namespace, 'db', { instrumented: false, replicas: 2, timeoutMs: 120_000 });
      return [await nodeTest.getAddress(namespace, 'db')];
    },
    outcome: (namespace) => view.isBack(namespace, 'db', /Crash|NotReady/, statefulSets),
  },
};

it.concurrent('reverts within 30 s what breaks in an odd namespace, and affects nothing else', async () => {
  const names = Object.keys(odd);
  const urls = (await Promise.all(Object.entries(odd).map(([name, { prepare }]) => prepare(name)))).flat();
  const following = follow(nodeTest, 'stateful', urls);
  await Promise.all(names.map((name, index) => nodeTest.activate(name, {}, getToken(10 + index))));
  const took = await Promise.all(names.map(async (name) => `${name} ${await odd[name]?.outcome(name)}`));
  const { asked, failures } = await following.stop();
  process.stderr.write(`      ${took.join(', ')}; ${asked} requests, ${failures.length} failed\n`);
  expect(failures).toEqual([]);
});

/** Lowered pods fill a quota during a rollout, and the templates request more than the node has. */
const asked = { cpu: '4', memory: '64Gi' };
const target = { cpu: '200m', memory: '256Mi' };

const lower = (object: Workload): readonly PatchOperation[] =>
  (object['spec'] as { containers: readonly Container[] }).containers.flatMap(({ resources }, index) =>
    (['requests', 'limits'] as const)
      .filter((list) => resources?.[list]?.['cpu'] !== undefined && resources[list]['cpu'] !== target.cpu)
      .map((list) => ({ op: 'replace' as const, path: `/spec/containers/${index}/resources/${list}`, value: target })),
  );

async function startAutoscaler(namespace: string): Promise<void> {
  const { client, system } = nodeTest;
  const end = await startMutatingWebhook({
    client,
    name: `vpa-${namespace}`,
    mutate: lower,
    address: system.node.slot.hostAddress,
    rule: { apiGroups: [''], operations: ['CREATE'], resources: ['pods'] },
    probe: pod(namespace, 'probe', { resources: { requests: asked, limits: asked } }),
  });
  ends.push(end);
}

/** The quota fits two lowered pods, because a rollout needs one more than the Deployment has. */
const createQuota = (namespace: string, lists: readonly string[]) => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { namespace, name: 'quota' },
  spec: {
    hard: Object.fromEntries(lists.flatMap((list) => [[`${list}.cpu`, '400m'] as const, [`${list}.memory`, '512Mi']])),
  },
});

const limits = {
  min: { cpu: '100m', memory: '64Mi' },
  max: { cpu: '1', memory: '1Gi' },
  maxLimitRequestRatio: { cpu: '1', memory: '1' },
};

const usedBy = (namespace: string): Promise<unknown> =>
  eventually(
    async () => {
      const pods = await getPods(nodeTest.system.node, namespace);
      expect(pods).toHaveLength(1);
      const ref = { group: '', version: 'v1', plural: 'resourcequotas', namespace, name: 'quota' };
      const { status } = (await nodeTest.client.get(ref)) as KubernetesObject & {
        status: { used: Record<string, string> };
      };
      expect(Object.values(status.used)).toContain(target.memory);
      return status.used;
    },
    { timeoutMs: 60_000 },
  );

const findQos = ([found]: readonly PodView[]): string | undefined => found?.status?.qosClass;

function getCopySeconds([found]: readonly PodView[]): number {
  const { startedAt, finishedAt } = found?.status?.initContainerStatuses?.[0]?.state?.terminated ?? {};
  return (Date.parse(String(finishedAt)) - Date.parse(String(startedAt))) / 1_000;
}

it.concurrent.each<readonly [string, Resources, readonly string[]]>([
  ['Guaranteed', { requests: asked, limits: asked }, ['requests', 'limits']],
  ['Burstable', { requests: asked }, ['requests']],
])(
  'a %s pod with lowered requests counts the same with injection, and fits its quota [F72]',
  async (qosClass, resources, lists) => {
    const namespace = qosClass.toLowerCase();
    await nodeTest.apply(restrictedNamespace(namespace), createQuota(namespace, lists));
    if (qosClass === 'Guaranteed') await nodeTest.apply(limitRange(namespace, limits));
    await startAutoscaler(namespace);
    await nodeTest.apply(deployment(namespace, 'app', { resources }));
    const before = await nodeTest.waitForRunning(namespace, 'app', { instrumented: false });
    const used = await usedBy(namespace);
    await nodeTest.activate(namespace, {}, getToken(1));
    // Other namespaces may have all places of the rollout until their deadlines.
    const after = await nodeTest.waitForRunning(namespace, 'app', { timeoutMs: 240_000 });
    process.stderr.write(`      ${qosClass}: the injector's files are copied within ${getCopySeconds(after)} s\n`);
    expect(await usedBy(namespace)).toEqual(used);
    expect([findQos(before), findQos(after)]).toEqual([qosClass, qosClass]);
  },
);

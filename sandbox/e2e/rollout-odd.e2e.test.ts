import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { workloadKinds } from '../../runtime/contract.ts';
import { restrictedNamespace, service } from '../node/apps.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView } from './rollout-view.ts';
import { follow, prepareStrictApps, stopFollowing, strictDeployment } from './strict-app.ts';

const { statefulSet: statefulSets } = workloadKinds;
jest.setTimeout(400_000);
let nodeTest: NodeTest;
let view: RolloutView;
beforeAll(async () => {
  nodeTest = await NodeTest.start({ rollout: { soakSeconds: 5, deadlineSeconds: 90 } });
  view = new RolloutView(nodeTest);
});
afterEach(stopFollowing);
afterAll(() => nodeTest?.stop());

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
      expect(await view.isInjected(namespace, 'app')).toBe(false);
      await nodeTest.apply(strictDeployment(namespace, 'app', 'serve'));
      await nodeTest.waitForRunning(namespace, 'app', { replicas: 2, timeoutMs: 180_000 });
      return 'left, then injected';
    },
  },
  changed: {
    prepare: (namespace) => prepareStrictApps(nodeTest, namespace, { app: 'crash' }),
    async outcome(namespace) {
      await view.waitForInjected(namespace, 'app', 180_000);
      const mine = { version: '2' };
      await view.change(namespace, 'app', { template: { metadata: { annotations: mine } } });
      const back = await view.isBack(namespace, 'app', /Crash|NotReady/);
      expect((await view.read(namespace, 'app'))['spec']).toMatchObject({
        template: { metadata: { annotations: mine } },
      });
      return back;
    },
  },
  blocked: {
    async prepare(namespace) {
      const urls = await prepareStrictApps(nodeTest, namespace, { paused: 'serve', good: 'serve' });
      await nodeTest.apply(strictDeployment(namespace, 'failing', 'never'));
      await view.change(namespace, 'paused', { paused: true });
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
      await view.change(namespace, 'paused', { paused: false });
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

it('reverts within 30 s what breaks in an odd namespace, and affects nothing else', async () => {
  const names = Object.keys(odd);
  const urls: string[] = [];
  for (const name of names) urls.push(...((await odd[name]?.prepare(name)) ?? []));
  const following = follow(nodeTest, 'stateful', urls);
  await Promise.all(names.map((name, index) => nodeTest.activate(name, {}, getToken(10 + index))));
  const took = await Promise.all(names.map(async (name) => `${name} ${await odd[name]?.outcome(name)}`));
  const { asked, failures } = await following.stop();
  process.stderr.write(`      ${took.join(', ')}; ${asked} requests, ${failures.length} failed\n`);
  expect(failures).toEqual([]);
});

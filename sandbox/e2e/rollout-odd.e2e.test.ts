import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { workloadKinds } from '../../runtime/contract.ts';
import { restrictedNamespace, service } from '../node/apps.ts';
import { tokenOf } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView } from './rollout-view.ts';
import { follow, prepareTouchy, stopFollowing, touchyDeployment } from './touchy.ts';

const { statefulSet: statefulSets } = workloadKinds;
const LONG_MS = 400_000;
let bench: NodeTest;
let view: RolloutView;
beforeAll(async () => {
  bench = await NodeTest.start({ rollout: { soakSeconds: 5, deadlineSeconds: 45 } });
  view = new RolloutView(bench);
}, LONG_MS);
afterEach(stopFollowing);
afterAll(() => bench?.stop());

interface Odd {
  readonly prepare: (namespace: string) => Promise<readonly string[]>;
  readonly outcome: (namespace: string) => Promise<string>;
}

const odd: Readonly<Record<string, Odd>> = {
  quota: {
    async prepare(namespace) {
      const urls = await prepareTouchy(bench, namespace, { app: 'serve' });
      const spec = { hard: { pods: '2' } };
      await bench.apply({ apiVersion: 'v1', kind: 'ResourceQuota', metadata: { namespace, name: 'all' }, spec });
      return urls;
    },
    outcome: (namespace) => view.isBack(namespace, 'app', /PodsRefused/),
  },
  midway: {
    async prepare(namespace) {
      const urls = await prepareTouchy(bench, namespace, { app: 'serve' });
      await bench.apply(touchyDeployment(namespace, 'app', 'never'));
      return urls;
    },
    async outcome(namespace) {
      await view.whenSaid(namespace, 'Deployment/app is in the middle of');
      expect(await view.isInjected(namespace, 'app')).toBe(false);
      await bench.apply(touchyDeployment(namespace, 'app', 'serve'));
      await bench.whenRunning(namespace, 'app', { replicas: 2, timeoutMs: 180_000 });
      return 'left, then injected';
    },
  },
  changed: {
    prepare: (namespace) => prepareTouchy(bench, namespace, { app: 'crash' }),
    async outcome(namespace) {
      await view.whenInjected(namespace, 'app', 180_000);
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
      const urls = await prepareTouchy(bench, namespace, { paused: 'serve', good: 'serve' });
      await bench.apply(touchyDeployment(namespace, 'failing', 'never'));
      await view.change(namespace, 'paused', { paused: true });
      // A rollout by a controller does not consult the disruption budget.
      const spec = { maxUnavailable: 0, selector: { matchLabels: { app: 'good' } } };
      const metadata = { namespace, name: 'none' };
      await bench.apply({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec });
      return urls;
    },
    async outcome(namespace) {
      await bench.whenRunning(namespace, 'good', { replicas: 2, timeoutMs: 180_000 });
      await view.whenSaid(
        namespace,
        'Deployment/paused is paused',
        'Deployment/failing has pods that are not available',
      );
      await view.change(namespace, 'paused', { paused: false });
      await bench.whenRunning(namespace, 'paused', { replicas: 2, timeoutMs: 180_000 });
      return 'left, then injected';
    },
  },
  stateful: {
    async prepare(namespace) {
      await bench.apply(restrictedNamespace(namespace));
      const { spec, ...made } = touchyDeployment(namespace, 'db', 'crash');
      const set = { ...made, kind: 'StatefulSet', spec: { ...(spec as object), serviceName: 'db' } };
      await bench.apply(set, service(namespace, 'db'));
      await bench.whenRunning(namespace, 'db', { instrumented: false, replicas: 2, timeoutMs: 120_000 });
      return [await bench.addressOf(namespace, 'db')];
    },
    outcome: (namespace) => view.isBack(namespace, 'db', /Crash|NotReady/, statefulSets),
  },
};

it(
  'reverts within 30 s what breaks in an odd namespace, and affects nothing else',
  async () => {
    const names = Object.keys(odd);
    const urls: string[] = [];
    for (const name of names) urls.push(...((await odd[name]?.prepare(name)) ?? []));
    const following = follow(bench, 'stateful', urls);
    await Promise.all(names.map((name, index) => bench.activate(name, {}, tokenOf(10 + index))));
    const took = await Promise.all(names.map(async (name) => `${name} ${await odd[name]?.outcome(name)}`));
    const { asked, failures } = await following.stop();
    process.stderr.write(`      ${took.join(', ')}; ${asked} requests, ${failures.length} failed\n`);
    expect(failures).toEqual([]);
  },
  LONG_MS,
);

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { lumigo as contract, workloads } from '../../runtime/contract.ts';
import { noteOf } from '../../runtime/injection/rollout-note.ts';
import type { LumigoResource, Workload } from '../../runtime/injection/types.ts';
import { restrictedNamespace, service } from '../node/apps.ts';
import { eventually } from '../testing/eventually.ts';
import { tokenOf } from '../testing/telemetry.ts';
import { NodeBench } from './bench.ts';
import { follow, prepareTouchy, stopFollowing, touchyDeployment } from './touchy.ts';

/** A rollout meets what is odd about a namespace, on a real node, under requests: each case in a namespace of its own, side by side. */
const [deployments, , statefulSets] = workloads;
const LONG_MS = 400_000;
let bench: NodeBench;
beforeAll(async () => {
  bench = await NodeBench.start({ rollout: { soakSeconds: 5, deadlineSeconds: 45 } });
}, LONG_MS);
afterEach(stopFollowing);
afterAll(() => bench?.stop());

type Kind = typeof deployments | typeof statefulSets;

const read = async (namespace: string, name: string, kind: Kind = deployments) =>
  (await bench.client.get({ ...kind, namespace, name })) as Workload;

const change = (namespace: string, name: string, spec: object) =>
  bench.client.patch({ ...deployments, namespace, name }, { kind: 'merge', body: { spec } });

const whenSaid = (namespace: string, ...texts: readonly string[]) =>
  eventually(
    async () => {
      const lumigo = (await bench.client.get({
        ...contract,
        ...{ namespace, name: 'lumigo' },
      })) as unknown as LumigoResource;
      const message = lumigo.status?.conditions?.find(({ type }) => type === 'RolledOut')?.message;
      for (const text of texts) expect(message).toContain(text);
    },
    { timeoutMs: 120_000 },
  );

const isInjected = async (namespace: string, name: string): Promise<boolean> =>
  JSON.stringify((await read(namespace, name))['spec']).includes('lumigo-injector');

/** It is put back, and every pod runs without the injection within 30 s of that. */
async function isBack(namespace: string, name: string, cause: RegExp, kind?: Kind): Promise<string> {
  const at = await eventually(
    async () => {
      const note = noteOf((await read(namespace, name, kind)).metadata);
      if (note === undefined) throw new Error(`${name} is not reverted`);
      expect(note.cause).toMatch(cause);
      return Date.parse(note.at);
    },
    { timeoutMs: 180_000 },
  );
  await bench.whenRunning(namespace, name, { instrumented: false, replicas: 2, timeoutMs: 60_000 });
  const seconds = (Date.now() - at) / 1_000;
  expect(seconds).toBeLessThan(30);
  return `back after ${seconds.toFixed(1)} s`;
}

/** How a namespace is before it gets a Lumigo (resolves with what is asked there), and what becomes of it. */
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
    outcome: (namespace) => isBack(namespace, 'app', /PodsRefused/),
  },
  midway: {
    async prepare(namespace) {
      const urls = await prepareTouchy(bench, namespace, { app: 'serve' });
      await bench.apply(touchyDeployment(namespace, 'app', 'never'));
      return urls;
    },
    async outcome(namespace) {
      await whenSaid(namespace, 'Deployment/app is in the middle of');
      expect(await isInjected(namespace, 'app')).toBe(false);
      await bench.apply(touchyDeployment(namespace, 'app', 'serve'));
      await bench.whenRunning(namespace, 'app', { replicas: 2, timeoutMs: 180_000 });
      return 'left, then injected';
    },
  },
  changed: {
    prepare: (namespace) => prepareTouchy(bench, namespace, { app: 'crash' }),
    async outcome(namespace) {
      await eventually(async () => expect(await isInjected(namespace, 'app')).toBe(true), { timeoutMs: 180_000 });
      const mine = { version: '2' };
      await change(namespace, 'app', { template: { metadata: { annotations: mine } } });
      const back = await isBack(namespace, 'app', /Crash|NotReady/);
      expect((await read(namespace, 'app'))['spec']).toMatchObject({ template: { metadata: { annotations: mine } } });
      return back;
    },
  },
  blocked: {
    async prepare(namespace) {
      const urls = await prepareTouchy(bench, namespace, { paused: 'serve', good: 'serve' });
      await bench.apply(touchyDeployment(namespace, 'failing', 'never'));
      await change(namespace, 'paused', { paused: true });
      // A rollout by a controller does not ask for it.
      const spec = { maxUnavailable: 0, selector: { matchLabels: { app: 'good' } } };
      const metadata = { namespace, name: 'none' };
      await bench.apply({ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata, spec });
      return urls;
    },
    async outcome(namespace) {
      await bench.whenRunning(namespace, 'good', { replicas: 2, timeoutMs: 180_000 });
      await whenSaid(namespace, 'Deployment/paused is paused', 'Deployment/failing has 2 of 2 pods not ready');
      await change(namespace, 'paused', { paused: false });
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
    outcome: (namespace) => isBack(namespace, 'db', /Crash|NotReady/, statefulSets),
  },
};

it(
  'a quota, a rollout of its own, a change in between, a pause, a program that fails by itself, a budget of zero, a StatefulSet: none is affected but what breaks, and that is back within 30 s',
  async () => {
    const names = Object.keys(odd);
    const urls: string[] = [];
    for (const name of names) urls.push(...((await odd[name]?.prepare(name)) ?? []));
    const following = follow(bench, 'stateful', urls);
    await Promise.all(names.map((name, index) => bench.lumigo(name, tokenOf(10 + index))));
    const took = await Promise.all(names.map(async (name) => `${name} ${await odd[name]?.outcome(name)}`));
    const { asked, failures } = await following.stop();
    process.stderr.write(`      ${took.join(', ')}; ${asked} requests, ${failures.length} failed\n`);
    expect(failures).toEqual([]);
  },
  LONG_MS,
);

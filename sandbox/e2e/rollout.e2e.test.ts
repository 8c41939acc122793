import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { labels } from '../../runtime/contract.ts';
import { revertOf } from '../../runtime/injection/revert.ts';
import { stampOf } from '../../runtime/injection/stamp.ts';
import { ask } from '../node/ask.ts';
import { restrictedNamespace } from '../node/apps.ts';
import { isReady } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { tokenOf } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView, secondsSince } from './rollout-view.ts';
import { follow, prepareTouchy, stopFollowing, touchyDeployment } from './touchy.ts';

const LONG_MS = 300_000;
let bench: NodeTest;
let view: RolloutView;
beforeAll(async () => {
  bench = await NodeTest.start({ rollout: { soakSeconds: 5, deadlineSeconds: 60 } });
  view = new RolloutView(bench);
}, LONG_MS);
afterEach(stopFollowing);
afterAll(() => bench?.stop());

const podAddresses = async (namespace: string, app: string): Promise<string[]> =>
  (await bench.pods(namespace, app)).filter(isReady).map(({ status }) => `http://${status?.podIP}:8080`);

const exits = (url: string): Promise<unknown> => ask(url).catch(() => undefined);

/** Resolves with the services that must always answer, and with the outcome once a `Lumigo` resource exists. */
interface Case {
  readonly prepare: (namespace: string) => Promise<readonly string[]>;
  readonly outcome: (namespace: string) => Promise<string>;
}

const cases: Readonly<Record<string, Case>> = {
  /** The reconciler injects existing workloads: one that crashes, and one that never becomes ready. */
  existing: {
    prepare: (namespace) =>
      prepareTouchy(bench, namespace, { 'a-good': 'serve', 'b-crash': 'crash', 'c-slow': 'slow' }),
    async outcome(namespace) {
      await bench.whenRunning(namespace, 'a-good', { replicas: 2, timeoutMs: 120_000 });
      const back = await Promise.all([
        view.isBack(namespace, 'b-crash', /^Crash$/),
        view.isBack(namespace, 'c-slow', /^NotReady$/),
      ]);
      const crash = revertOf((await view.read(namespace, 'b-crash')).metadata);
      expect(crash?.evidence).toContain('these are my last words');
      expect(await view.condition(namespace)).toMatchObject({ status: 'False' });
      return back.join(' and ');
    },
  },
  /** The webhook injects a new workload, and one whose template changes as its opt-out ends. */
  webhook: {
    async prepare(namespace) {
      const { metadata, ...updated } = touchyDeployment(namespace, 'updated', 'serve');
      const optOut = { ...metadata, labels: { ...metadata.labels, [labels.autoTrace]: 'false' } };
      await bench.apply(restrictedNamespace(namespace), { ...updated, metadata: optOut });
      await bench.whenRunning(namespace, 'updated', { instrumented: false, replicas: 2 });
      return [];
    },
    async outcome(namespace) {
      await bench.apply(touchyDeployment(namespace, 'created', 'slow'), touchyDeployment(namespace, 'updated', 'slow'));
      const by = async (name: string) => stampOf((await view.read(namespace, name)).metadata)?.by;
      expect([await by('created'), await by('updated')]).toEqual(['webhook', 'webhook']);
      const back = ['created', 'updated'].map((name) => view.isBack(namespace, name, /^NotReady$/));
      return (await Promise.all(back)).join(' and ');
    },
  },
  /** The program exits after its probation, and cannot start again in a pod with the injection. */
  late: {
    prepare: (namespace) => prepareTouchy(bench, namespace, { app: 'serve' }).then(() => []),
    async outcome(namespace) {
      await view.whenVerified(namespace, 'app');
      for (const address of await podAddresses(namespace, 'app')) await exits(`${address}/break`);
      const started = Date.now();
      await view.whenReverted(namespace, 'app', /^Crash$/);
      const took = secondsSince(started);
      expect(Number(took)).toBeLessThan(120);
      return `reverted ${took} s after it broke, ${await view.isBack(namespace, 'app', /^Crash$/)}`;
    },
  },
  /** The first in the alphabet ends all of its pods before a new one starts. */
  recreate: {
    async prepare(namespace) {
      await prepareTouchy(bench, namespace, { 'a-all': 'serve' }, { strategy: { type: 'Recreate' } });
      return prepareTouchy(bench, namespace, { 'b-some': 'serve', 'c-some': 'serve', 'd-some': 'serve' });
    },
    async outcome(namespace) {
      const names = ['a-all', 'b-some', 'c-some', 'd-some'];
      await bench.whenRunning(namespace, 'a-all', { replicas: 2, timeoutMs: 240_000 });
      const metadata = await Promise.all(names.map(async (name) => (await view.read(namespace, name)).metadata));
      const [last = '', ...others] = metadata.map((each) => stampOf(each)?.at ?? '');
      expect(others.filter((at) => at >= last)).toEqual([]);
      for (const name of names) expect(await view.isInjected(namespace, name)).toBe(true);
      return 'last';
    },
  },
};

it(
  'reverts each program that fails, and no request to another one fails [F68, F73]',
  async () => {
    const names = Object.keys(cases);
    const urls = (await Promise.all(Object.entries(cases).map(([name, { prepare }]) => prepare(name)))).flat();
    const following = follow(bench, 'existing', urls);
    const started = Date.now();
    await Promise.all(names.map((name, index) => bench.activate(name, {}, tokenOf(20 + index))));
    const took = await Promise.all(names.map(async (name) => `${name} ${await cases[name]?.outcome(name)}`));
    const { asked, failures } = await following.stop();
    process.stderr.write(
      `      ${secondsSince(started)} s: ${took.join(', ')}; ${asked} requests, ${failures.length} failed\n`,
    );
    expect(failures).toEqual([]);
  },
  LONG_MS,
);

it(
  'reverts across restarts of the operator, and an upgrade reverts no healthy workload [F63]',
  async () => {
    const [killed, upgraded] = ['killed', 'upgraded'];
    await prepareTouchy(bench, upgraded, { app: 'warm' });
    const urls = await prepareTouchy(bench, killed, { 'a-crash': 'crash', 'b-good': 'serve' });
    const following = follow(bench, killed, urls);
    const started = Date.now();
    await Promise.all([bench.activate(killed, {}, tokenOf(30)), bench.activate(upgraded, {}, tokenOf(31))]);
    await view.whenInjected(killed, 'a-crash');
    await view.killOperator();
    const restarted = view.whenVerified(upgraded, 'app').then(() => restartOnePodTwice(upgraded));
    await Promise.all([view.whenReverted(killed, 'a-crash', /^Crash$/), restarted]);
    await view.upgradeOperator('999.0.0');
    const before = stampOf((await view.read(upgraded, 'app')).metadata);
    await view.change(upgraded, 'app', { template: { metadata: { annotations: { version: '2' } } } });
    const after = stampOf((await view.read(upgraded, 'app')).metadata);
    expect(after).toMatchObject({ by: 'webhook', change: 'updated' });
    expect(after?.at).not.toBe(before?.at);
    await bench.whenRunning(killed, 'b-good', { replicas: 2, timeoutMs: 90_000 });
    await bench.whenRunning(killed, 'a-crash', { instrumented: false, replicas: 2 });
    await whenReplaced(upgraded);
    await view.whenVerified(upgraded, 'app');
    expect(await view.isInjected(killed, 'a-crash')).toBe(false);
    expect(stampOf((await view.read(upgraded, 'app')).metadata)).toEqual(after);
    const { asked, failures } = await following.stop();
    process.stderr.write(`      ${secondsSince(started)} s; ${asked} requests, ${failures.length} failed\n`);
    expect(failures).toEqual([]);
  },
  LONG_MS,
);

async function restartOnePodTwice(namespace: string): Promise<void> {
  const [address = ''] = await podAddresses(namespace, 'app');
  for (const restarts of [1, 2]) {
    await exits(`${address}/exit`);
    await eventually(
      async () => {
        const counts = (await bench.pods(namespace, 'app')).map(({ status }) => status?.containerStatuses?.[0]);
        expect(counts).toContainEqual(expect.objectContaining({ restartCount: restarts, started: true }));
        await ask(address);
      },
      { timeoutMs: 60_000 },
    );
  }
}

const whenReplaced = (namespace: string): Promise<void> =>
  eventually(
    async () => {
      const pods = await bench.pods(namespace, 'app');
      expect(pods.filter(isReady).map(({ metadata }) => metadata.annotations?.['version'])).toEqual(['2', '2']);
      expect(pods).toHaveLength(2);
    },
    { timeoutMs: 120_000 },
  );

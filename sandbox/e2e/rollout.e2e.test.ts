import { afterAll, afterEach, beforeAll, expect, it, jest } from '@jest/globals';
import { operatorVersion } from '../../infra/settings/version.ts';
import { labels, workloadKinds } from '../../runtime/contract.ts';
import { findRevert } from '../../runtime/injection/revert.ts';
import { getInjectionStatus } from '../../runtime/injection/injection-status.ts';
import { ask } from '../node/ask.ts';
import { restrictedNamespace } from '../node/apps.ts';
import { isReady } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { RolloutView, secondsSince } from './rollout-view.ts';
import { follow, prepareStrictApps, stopFollowing, strictDeployment } from './strict-app.ts';

const { deployment: deployments } = workloadKinds;
jest.setTimeout(400_000);
let nodeTest: NodeTest;
let view: RolloutView;
beforeAll(async () => {
  nodeTest = await NodeTest.start({ rollout: { soakSeconds: 2, deadlineSeconds: 60 } });
  view = new RolloutView(nodeTest);
});
afterEach(stopFollowing);
afterAll(() => nodeTest?.stop());

const podAddresses = async (namespace: string, app: string): Promise<string[]> =>
  (await nodeTest.pods(namespace, app)).filter(isReady).map(({ status }) => `http://${status?.podIP}:8080`);

const exits = (url: string): Promise<unknown> => ask(url, 10_000).catch(() => undefined);

/** Resolves with the services that must always answer, and with the outcome once a `Lumigo` resource exists. */
interface Case {
  readonly prepare: (namespace: string) => Promise<readonly string[]>;
  readonly outcome: (namespace: string) => Promise<string>;
}

const cases: Readonly<Record<string, Case>> = {
  /** The reconciler injects existing workloads: one that crashes, and one that never becomes ready. */
  existing: {
    prepare: (namespace) =>
      prepareStrictApps(nodeTest, namespace, { 'a-good': 'serve', 'b-crash': 'crash', 'c-slow': 'slow' }),
    async outcome(namespace) {
      const [, ...back] = await Promise.all([
        nodeTest.waitForRunning(namespace, 'a-good', { replicas: 2, timeoutMs: 120_000 }),
        view.isBack(namespace, 'b-crash', /^Crash$/),
        view.isBack(namespace, 'c-slow', /^NotReady$/),
      ]);
      const crash = findRevert((await nodeTest.get(deployments, namespace, 'b-crash')).metadata);
      expect(crash?.evidence).toContain('these are my last words');
      expect(await nodeTest.condition(namespace, 'RolledOut')).toMatchObject({ status: 'False' });
      return back.join(' and ');
    },
  },
  /** The webhook injects a new workload, and one whose template changes as its opt-out ends. */
  webhook: {
    async prepare(namespace) {
      const { metadata, ...updated } = strictDeployment(namespace, 'updated', 'serve');
      const optOut = { ...metadata, labels: { ...metadata.labels, [labels.autoTrace]: 'false' } };
      await nodeTest.apply(restrictedNamespace(namespace), { ...updated, metadata: optOut });
      await nodeTest.waitForRunning(namespace, 'updated', { instrumented: false, replicas: 2 });
      return [];
    },
    async outcome(namespace) {
      await nodeTest.waitForWebhook(namespace);
      await nodeTest.apply(
        strictDeployment(namespace, 'created', 'slow'),
        strictDeployment(namespace, 'updated', 'slow'),
      );
      const by = async (name: string) =>
        getInjectionStatus((await nodeTest.get(deployments, namespace, name)).metadata)?.by;
      expect([await by('created'), await by('updated')]).toEqual(['webhook', 'webhook']);
      const back = ['created', 'updated'].map((name) => view.isBack(namespace, name, /^NotReady$/));
      return (await Promise.all(back)).join(' and ');
    },
  },
  /** The program exits after its probation, and cannot start again in a pod with the injection. */
  late: {
    prepare: (namespace) => prepareStrictApps(nodeTest, namespace, { app: 'serve' }).then(() => []),
    async outcome(namespace) {
      await view.waitForVerified(namespace, 'app');
      for (const address of await podAddresses(namespace, 'app')) await exits(`${address}/break`);
      const started = Date.now();
      await view.waitForReverted(namespace, 'app', /^Crash$/);
      const took = secondsSince(started);
      expect(Number(took)).toBeLessThan(120);
      return `reverted ${took} s after it broke, ${await view.isBack(namespace, 'app', /^Crash$/)}`;
    },
  },
};

it('reverts each program that fails, and no request to another one fails [F68]', async () => {
  const names = Object.keys(cases);
  const urls = (await Promise.all(Object.entries(cases).map(([name, { prepare }]) => prepare(name)))).flat();
  const following = follow(nodeTest, 'existing', urls);
  const started = Date.now();
  await Promise.all(names.map((name, index) => nodeTest.activate(name, {}, getToken(20 + index))));
  const took = await Promise.all(names.map(async (name) => `${name} ${await cases[name]?.outcome(name)}`));
  const { asked, failures } = await following.stop();
  process.stderr.write(
    `      ${secondsSince(started)} s: ${took.join(', ')}; ${asked} requests, ${failures.length} failed\n`,
  );
  expect(failures).toEqual([]);
});

it('reverts across restarts and beside halted namespaces, and an upgrade reverts nothing [F63, F65]', async () => {
  const killed = 'killed';
  const upgraded = 'upgraded';
  await prepareStrictApps(nodeTest, upgraded, { app: 'warm' });
  const urls = await prepareStrictApps(nodeTest, killed, { 'a-crash': 'crash', 'b-good': 'serve' });
  const following = follow(nodeTest, killed, urls);
  const started = Date.now();
  await Promise.all([nodeTest.activate(killed, {}, getToken(30)), nodeTest.activate(upgraded, {}, getToken(31))]);
  await view.waitForInjected(killed, 'a-crash');
  await view.killOperator();
  const restarted = view.waitForVerified(upgraded, 'app').then(() => restartOnePodTwice(upgraded));
  await Promise.all([view.waitForReverted(killed, 'a-crash', /^Crash$/), restarted]);
  await view.upgradeOperator(`${operatorVersion()}+999`);
  await nodeTest.waitForWebhook(upgraded);
  const before = getInjectionStatus((await nodeTest.get(deployments, upgraded, 'app')).metadata);
  const second = { metadata: { annotations: { version: '2' } } };
  await nodeTest.merge(deployments, upgraded, 'app', { spec: { template: second } });
  const after = getInjectionStatus((await nodeTest.get(deployments, upgraded, 'app')).metadata);
  expect(after).toMatchObject({ by: 'webhook', change: 'updated' });
  expect(after?.at).not.toBe(before?.at);
  await nodeTest.waitForRunning(killed, 'b-good', { replicas: 2, timeoutMs: 90_000 });
  await nodeTest.waitForRunning(killed, 'a-crash', { instrumented: false, replicas: 2 });
  await waitForReplaced(upgraded);
  await view.waitForVerified(upgraded, 'app');
  expect(await nodeTest.isInstrumented(deployments, killed, 'a-crash')).toBe(false);
  expect(getInjectionStatus((await nodeTest.get(deployments, upgraded, 'app')).metadata)).toEqual(after);
  const { asked, failures } = await following.stop();
  process.stderr.write(`      ${secondsSince(started)} s; ${asked} requests, ${failures.length} failed\n`);
  expect(failures).toEqual([]);
});

async function restartOnePodTwice(namespace: string): Promise<void> {
  const [address = ''] = await podAddresses(namespace, 'app');
  for (const restarts of [1, 2]) {
    await exits(`${address}/exit`);
    await eventually(
      async () => {
        const counts = (await nodeTest.pods(namespace, 'app')).map(({ status }) => status?.containerStatuses?.[0]);
        expect(counts).toContainEqual(expect.objectContaining({ restartCount: restarts, started: true }));
        await ask(address);
      },
      { timeoutMs: 60_000 },
    );
  }
}

const waitForReplaced = (namespace: string): Promise<void> =>
  eventually(
    async () => {
      const pods = await nodeTest.pods(namespace, 'app');
      expect(pods.filter(isReady).map(({ metadata }) => metadata.annotations?.['version'])).toEqual(['2', '2']);
      expect(pods).toHaveLength(2);
    },
    { timeoutMs: 120_000 },
  );

import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { workloadKinds } from '../../runtime/contract.ts';
import { getInjectionStatus } from '../../runtime/injection/injection-status.ts';
import { findRevert } from '../../runtime/injection/revert.ts';
import { toTemplate } from '../../runtime/injection/workload.ts';
import { nodeImage, podTemplate } from '../node/apps.ts';
import { eventually } from '../testing/eventually.ts';
import { getToken } from '../testing/telemetry.ts';
import { NodeTest } from './node-test.ts';
import { secondsSince } from './rollout-view.ts';
import { follow, prepareStrictApps, stopFollowing, strictDeployment } from './strict-app.ts';

const { cronJob: cronJobs, deployment: deployments, job: jobs } = workloadKinds;
const namespace = 'missing';
const names = ['app-0', 'app-1', 'app-2', 'app-3'];

let nodeTest: NodeTest;
beforeAll(async () => {
  const image = { repository: 'registry.invalid/no-such-injector', tag: '1' };
  nodeTest = await NodeTest.start({ injectorWebhook: { lumigoInjector: { image } } });
});
afterEach(stopFollowing);
afterAll(() => nodeTest?.stop());

const shortTemplate = () => {
  const { metadata, spec } = podTemplate('short', { image: nodeImage, command: ['/nodejs/bin/node', '-e', ''] });
  return { metadata, spec: { ...spec, restartPolicy: 'Never' } };
};
const job = (name: string) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { namespace, name },
  spec: { backoffLimit: 0, template: shortTemplate() },
});
const cronJob = (name: string) => ({
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { namespace, name },
  spec: { schedule: '* * * * *', jobTemplate: { spec: { backoffLimit: 0, template: shortTemplate() } } },
});

const waitForSucceeded = (name: string) =>
  eventually(
    async () => expect(await nodeTest.get(jobs, namespace, name)).toMatchObject({ status: { succeeded: 1 } }),
    {
      timeoutMs: 60_000,
    },
  );

/** Returns when the operator injected it, in milliseconds of the epoch. */
const waitForInjectedAt = (name: string): Promise<number> =>
  eventually(
    async () => {
      const injectionStatus = getInjectionStatus((await nodeTest.get(deployments, namespace, name)).metadata);
      if (injectionStatus === undefined) throw new Error(`${name} is not injected yet`);
      return Date.parse(injectionStatus.at);
    },
    { timeoutMs: 120_000 },
  );

it('reverts the one workload that it affects within 60 s, while no request fails [F58]', async () => {
  const urls = await prepareStrictApps(nodeTest, namespace, Object.fromEntries(names.map((name) => [name, 'serve'])));
  await nodeTest.apply(cronJob('each-minute'));
  const before = await Promise.all(names.map((name) => nodeTest.get(deployments, namespace, name)));
  const following = follow(nodeTest, namespace, urls);
  await nodeTest.activate(namespace, {}, getToken(1));
  // The first by name goes first, because the four are alike.
  const injectedAt = await waitForInjectedAt('app-0');
  await nodeTest.waitForCondition(namespace, 'RolledOut', { reason: 'Halted' });
  const halted = secondsSince(injectedAt);
  for (const name of names) await nodeTest.waitForRunning(namespace, name, { instrumented: false, replicas: 2 });
  await sleep(10_000);
  const { asked, failures, injected } = await following.stop();
  process.stderr.write(`      halted after ${halted} s; ${asked} requests, ${failures.length} failed\n`);
  expect(failures).toEqual([]);
  expect(Number(halted)).toBeLessThan(60);
  expect(injected).toHaveLength(1);
  const after = await Promise.all(names.map((name) => nodeTest.get(deployments, namespace, name)));
  expect(after.map(toTemplate)).toEqual(before.map(toTemplate));
  const reverts = after.flatMap(({ metadata }) => findRevert(metadata) ?? []);
  expect(reverts).toEqual([expect.objectContaining({ cause: 'InjectorImage', attempt: 1 })]);
  const { message } = (await nodeTest.condition(namespace, 'RolledOut')) ?? { message: '' };
  // A kubelet alternates between the two reasons while it retries.
  expect(message).toMatch(/container 'lumigo-injector': (ImagePullBackOff|ErrImagePull)/);
  expect(message).toContain('lumigo.retry');
});

it('lets a new Job, a new Deployment and a CronJob run without the injection [F67]', async () => {
  await nodeTest.apply(job('migrate'), strictDeployment(namespace, 'new', 'serve'));
  await waitForSucceeded('migrate');
  await nodeTest.waitForRunning(namespace, 'new', { instrumented: false, replicas: 2 });
  expect(await nodeTest.isInstrumented(jobs, namespace, 'migrate')).toBe(false);
  expect(await nodeTest.isInstrumented(deployments, namespace, 'new')).toBe(false);
  expect(findRevert((await nodeTest.get(deployments, namespace, 'new')).metadata)).toBeUndefined();
  expect(await nodeTest.isInstrumented(cronJobs, namespace, 'each-minute')).toBe(false);
  await eventually(
    async () =>
      expect(await nodeTest.get(cronJobs, namespace, 'each-minute')).toMatchObject({
        status: { lastSuccessfulTime: expect.any(String) },
      }),
    { timeoutMs: 90_000 },
  );
});

import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { lumigo as contract, managerSelector, pods, workloads } from '../../runtime/contract.ts';
import { noteOf } from '../../runtime/injection/rollout-note.ts';
import type { LumigoResource, Workload } from '../../runtime/injection/types.ts';
import { podsOf, whenOperatorReady } from '../node/operator.ts';
import { eventually } from '../testing/eventually.ts';
import { tokenOf } from '../testing/telemetry.ts';
import { NodeBench } from './bench.ts';
import { follow, prepareTouchy, stopFollowing, touchyDeployment } from './touchy.ts';

/** Injections that break programs, on a real node, under requests. */
const [deployments] = workloads;

const LONG_MS = 300_000;

let bench: NodeBench;
afterEach(stopFollowing);

const read = async (namespace: string, name: string): Promise<Workload> =>
  (await bench.client.get({ ...deployments, namespace, name })) as Workload;

const conditionOf = async (namespace: string) => {
  const lumigo = (await bench.client.get({ ...contract, namespace, name: 'lumigo' })) as unknown as LumigoResource;
  return lumigo.status?.conditions?.find(({ type }) => type === 'RolledOut');
};

const isInjected = async (namespace: string, name: string): Promise<boolean> =>
  JSON.stringify((await read(namespace, name))['spec']).includes('lumigo-injector');

async function killOperator(): Promise<void> {
  for (const { metadata } of await podsOf(bench.system.node, 'lumigo-system', managerSelector))
    await bench.client.delete({ ...pods, namespace: 'lumigo-system', name: metadata.name });
  await whenOperatorReady(bench.system.node);
}

const secondsSince = (started: number): string => ((Date.now() - started) / 1_000).toFixed(1);

describe('an injector image that does not exist', () => {
  beforeAll(async () => {
    const image = { repository: 'registry.invalid/no-such-injector', tag: '1' };
    bench = await NodeBench.start({ injectorWebhook: { lumigoInjector: { image } } });
  });
  afterAll(() => bench?.stop());

  it(
    'F58: affects one workload of six, which is as it was soon after; no request fails, and the Lumigo says why',
    async () => {
      const names = Array.from({ length: 6 }, (_, index) => `app-${index}`);
      const urls = await prepareTouchy(bench, 'missing', Object.fromEntries(names.map((name) => [name, 'serve'])));
      const before = await Promise.all(names.map((name) => read('missing', name)));
      const following = follow(bench, 'missing', urls);
      const started = Date.now();
      await bench.lumigo('missing', tokenOf(1));
      await eventually(async () => expect(await conditionOf('missing')).toMatchObject({ reason: 'Halted' }), {
        timeoutMs: 90_000,
      });
      const halted = secondsSince(started);
      await sleep(15_000);
      const { asked, failures, injected } = await following.stop();
      process.stderr.write(`      halted after ${halted} s; ${asked} requests, ${failures.length} failed\n`);
      expect(failures).toEqual([]);
      expect(injected).toHaveLength(1);
      const after = await Promise.all(names.map((name) => read('missing', name)));
      expect(after.map(({ spec }) => (spec as { template: unknown }).template)).toEqual(
        before.map(({ spec }) => (spec as { template: unknown }).template),
      );
      const [note] = after.flatMap(({ metadata }) => noteOf(metadata) ?? []);
      expect(note).toMatchObject({ cause: 'InjectorImage' });
      const { message } = (await conditionOf('missing')) ?? { message: '' };
      expect(message).toContain("container 'lumigo-injector': ImagePullBackOff");
      expect(message).toContain('lumigo.retry');
      for (const name of names) await bench.whenRunning('missing', name, { instrumented: false, replicas: 2 });
    },
    LONG_MS,
  );

  it(
    'is reverted in a new workload that the webhook injected [F58]',
    async () => {
      await bench.apply(touchyDeployment('missing', 'new', 'serve'));
      const started = Date.now();
      await bench.whenRunning('missing', 'new', { instrumented: false, replicas: 2, timeoutMs: 90_000 });
      process.stderr.write(`      a new workload runs after ${secondsSince(started)} s\n`);
      expect(noteOf((await read('missing', 'new')).metadata)).toMatchObject({ cause: 'InjectorImage' });
    },
    LONG_MS,
  );

  it(
    'leaves no trace of a revert when the Lumigo is deleted',
    async () => {
      await bench.client.delete({ ...contract, namespace: 'missing', name: 'lumigo' });
      await eventually(
        async () => {
          for (const name of ['app-0', 'new'])
            expect(
              JSON.stringify((await read('missing', name)).metadata).replace(/"managedFields".*/, ''),
            ).not.toContain('umigo');
        },
        { timeoutMs: 30_000 },
      );
    },
    LONG_MS,
  );
});

describe('programs that do not bear the injection', () => {
  beforeAll(async () => {
    bench = await NodeBench.start({ rollout: { soakSeconds: 5, deadlineSeconds: 30 } });
  });
  afterAll(() => bench?.stop());

  it(
    'are put back one by one, with their last words, and the namespace halts at two; those that do get it',
    async () => {
      const apps = { 'a-good': 'serve', 'b-crash': 'crash', 'c-slow': 'slow', 'd-good': 'serve' };
      const urls = await prepareTouchy(bench, 'touchy', apps);
      const following = follow(bench, 'touchy', urls);
      const started = Date.now();
      await bench.lumigo('touchy', tokenOf(2));
      await bench.whenRunning('touchy', 'a-good', { replicas: 2, timeoutMs: 60_000 });
      await eventually(
        async () => {
          expect(noteOf((await read('touchy', 'b-crash')).metadata)).toMatchObject({ cause: 'Crash' });
          expect(noteOf((await read('touchy', 'c-slow')).metadata)).toMatchObject({ cause: 'NotReady' });
          expect(await conditionOf('touchy')).toMatchObject({ status: 'False' });
        },
        { timeoutMs: 180_000 },
      );
      const { asked, failures } = await following.stop();
      process.stderr.write(`      ${secondsSince(started)} s; ${asked} requests, ${failures.length} failed\n`);
      expect(failures).toEqual([]);
      expect(noteOf((await read('touchy', 'b-crash')).metadata)?.evidence).toContain('these are my last words');
      for (const name of ['b-crash', 'c-slow'])
        await bench.whenRunning('touchy', name, { instrumented: false, replicas: 2 });
    },
    LONG_MS,
  );

  it(
    'are put back, and the others get it, where the operator is killed with one on trial and with one put back',
    async () => {
      // What was put back there counts no longer.
      await bench.client.delete({ group: '', version: 'v1', plural: 'namespaces', name: 'touchy' });
      const urls = await prepareTouchy(bench, 'killed', { 'a-crash': 'crash', 'b-good': 'serve' });
      const following = follow(bench, 'killed', urls);
      const started = Date.now();
      await bench.lumigo('killed', tokenOf(4));
      await eventually(async () => expect(await isInjected('killed', 'a-crash')).toBe(true), { timeoutMs: 30_000 });
      await killOperator();
      await eventually(
        async () => expect(noteOf((await read('killed', 'a-crash')).metadata)).toMatchObject({ cause: 'Crash' }),
        { timeoutMs: 120_000 },
      );
      await killOperator();
      await bench.whenRunning('killed', 'b-good', { replicas: 2, timeoutMs: 90_000 });
      await bench.whenRunning('killed', 'a-crash', { instrumented: false, replicas: 2 });
      expect(await isInjected('killed', 'a-crash')).toBe(false);
      const { asked, failures } = await following.stop();
      process.stderr.write(
        `      killed twice: ${secondsSince(started)} s; ${asked} requests, ${failures.length} failed\n`,
      );
      expect(failures).toEqual([]);
    },
    LONG_MS,
  );
});

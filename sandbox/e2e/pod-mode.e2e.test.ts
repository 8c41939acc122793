import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lumigo as contract, workloads } from '../../runtime/contract.ts';
import type { LumigoResource, Workload } from '../../runtime/injection/types.ts';
import { eventually } from '../testing/eventually.ts';
import { tokenOf } from '../testing/telemetry.ts';
import { NodeBench } from './bench.ts';
import { follow, prepareTouchy, stopFollowing } from './touchy.ts';

/** Pods that are replaced by eviction, on a real node, under requests. */
const [deployments] = workloads;
const LONG_MS = 300_000;
const podMode = { tracing: { injection: { mode: 'Pod' } } };

let bench: NodeBench;
beforeAll(async () => {
  bench = await NodeBench.start({
    injection: { podMode: true },
    rollout: { soakSeconds: 5, deadlineSeconds: 30 },
  });
});
afterAll(async () => {
  await stopFollowing();
  await bench?.stop();
});

const read = async (namespace: string, name: string): Promise<Workload> =>
  (await bench.client.get({ ...deployments, namespace, name })) as Workload;

const conditionOf = async (namespace: string) => {
  const lumigo = (await bench.client.get({ ...contract, namespace, name: 'lumigo' })) as unknown as LumigoResource;
  return lumigo.status?.conditions?.find(({ type }) => type === 'RolledOut');
};

const secondsSince = (started: number): string => ((Date.now() - started) / 1_000).toFixed(1);

describe('in Pod mode, Deployments that run', () => {
  it.concurrent(
    'D48: have all their pods replaced by injected ones, one by one; no request fails, and their sources stay as they are',
    async () => {
      const urls = await prepareTouchy(bench, 'podmode', { 'a-good': 'serve', 'b-good': 'serve' });
      const before = await Promise.all(['a-good', 'b-good'].map((name) => read('podmode', name)));
      const following = follow(bench, 'podmode', urls);
      const started = Date.now();
      await bench.lumigo('podmode', tokenOf(4), podMode);
      for (const name of ['a-good', 'b-good'])
        await bench.whenRunning('podmode', name, { replicas: 2, timeoutMs: 120_000 });
      await eventually(async () => expect(await conditionOf('podmode')).toMatchObject({ reason: 'Complete' }), {
        timeoutMs: 60_000,
      });
      const { asked, failures } = await following.stop();
      process.stderr.write(
        `      4 pods in ${secondsSince(started)} s; ${asked} requests, ${failures.length} failed\n`,
      );
      expect(failures).toEqual([]);
      const after = await Promise.all(['a-good', 'b-good'].map((name) => read('podmode', name)));
      expect(after.map(({ spec, metadata }) => [spec, metadata.generation])).toEqual(
        before.map(({ spec, metadata }) => [spec, metadata.generation]),
      );
    },
    LONG_MS,
  );

  it.concurrent(
    'F58: lose one pod of two to a program that does not bear the injection; no request fails, and it comes back clean',
    async () => {
      const urls = await prepareTouchy(bench, 'podcrash', { crash: 'crash' });
      const following = follow(bench, 'podcrash', urls);
      const started = Date.now();
      await bench.lumigo('podcrash', tokenOf(5), podMode);
      await eventually(async () => expect(await conditionOf('podcrash')).toMatchObject({ reason: 'Halted' }), {
        timeoutMs: 120_000,
      });
      const halted = secondsSince(started);
      await bench.whenRunning('podcrash', 'crash', { instrumented: false, replicas: 2, timeoutMs: 90_000 });
      const { asked, failures } = await following.stop();
      process.stderr.write(
        `      halted after ${halted} s, clean after ${secondsSince(started)} s; ${asked} requests, ${failures.length} failed\n`,
      );
      expect(failures).toEqual([]);
      expect((await conditionOf('podcrash'))?.message).toContain('these are my last words');
    },
    LONG_MS,
  );
});

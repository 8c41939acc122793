import { expect, it } from '@jest/globals';
import { noTally } from '../rollout/injector-health.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { noRollout, type RolloutPlan } from './plan-rollout.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import { Rollouts } from './rollouts.ts';
import { WorkloadStore } from './workload-store.ts';

function start() {
  const enqueued: string[] = [];
  const lumigoes = new LumigoStore([]);
  const enqueue = (namespace: string): void => void enqueued.push(namespace);
  const config = { version: '1.2.3', rolloutSoakSeconds: 10 };
  const term = { config, store: new WorkloadStore(), lumigoes, enqueue } as unknown as ReconcilerContext;
  return { rollouts: new Rollouts(term), enqueued };
}

const plan = (tally: Partial<typeof noTally>): RolloutPlan => ({
  changes: [],
  stateChanges: [],
  tally: { ...noTally, ...tally },
  summary: noRollout,
  report: undefined,
  wantsSlot: false,
  wakeAt: Infinity,
});

it('learns from each namespace how the injector fares, and forgets it with its workloads', () => {
  const { rollouts } = start();
  const health = () => rollouts.observe('another').injector;
  const after = (namespace: string, tally: Partial<typeof noTally>) => {
    rollouts.act(namespace, plan(tally));
    return health();
  };
  expect(health()).toBe('untried');
  expect(after('a', { trying: 1 })).toBe('unknown');
  expect(after('a', { verified: 1, proven: 1 })).toBe('verified');
  for (const each of ['b', 'c', 'd']) rollouts.act(each, plan({ injectorFailed: 1, reverted: 1, witnessed: 1 }));
  expect(health()).toBe('failing');
  for (const each of ['b', 'c', 'd']) rollouts.act(each, plan({}));
  expect(health()).toBe('verified');
  expect(after('a', {})).toBe('untried');
});

it('plans a namespace without a look at thousands of others', () => {
  const { rollouts } = start();
  const used = process.cpuUsage();
  for (let index = 0; index < 10_000; index += 1) rollouts.act(`namespace-${index}`, plan({ untested: 1 }));
  expect(process.cpuUsage(used).user).toBeLessThan(1_000_000);
});

import { expect, it } from '@jest/globals';
import { workloadKinds } from '../contract.ts';
import type { Evidence } from '../rollout/evidence.ts';
import type { Observation, WorkloadState } from '../rollout/workload-state.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import { Rollouts } from './rollouts.ts';
import { WorkloadStore } from './workload-store.ts';

const { deployment } = workloadKinds;
const config = { version: '1.0.0', rolloutSoakSeconds: 0, rolloutLookSeconds: 20, rolloutDeadlineSeconds: 300 };
const risk = { rank: 0, pods: 2 } as const;
const evidence: Evidence = { cause: 'InjectorImage', message: 'there is no image' };
const reverted: WorkloadState = { kind: 'reverted', evidence, risk, attempt: 1, wakeAt: Infinity };
const probation = { progress: { available: 2, at: -20_000 }, template: 'one', attempt: 0, wakeAt: 0 };
const complete = { kind: 'complete', available: 2 } as const;
const reading = { completion: complete, template: 'one', isCurrent: true, risk, injector: 'failing' } as const;
const runs: Observation = { kind: 'status', unchangedSince: -20_000, ...reading };

const rolloutsOf = (store: WorkloadStore) =>
  new Rollouts({ store, config, signal: new AbortController().signal } as unknown as ReconcilerContext);

it('leaves 20 s between two looks at failing pods, even without a soak', () => {
  expect(rolloutsOf(new WorkloadStore(() => 0)).observe('shop').settings).toMatchObject({ soakMs: 0, lookMs: 20_000 });
});

it.each([
  ['frees the workloads whose injector failed, if it was a retry', { freed: 'retry', isCurrent: true }, 'queued'],
  ['changes nothing about them if it was no retry', { isCurrent: true }, 'reverted'],
  ['changes nothing about them if it has an older injector', { freed: 'retry', isCurrent: false }, 'reverted'],
] as const)('a workload that is verified %s', (_title, more, expected) => {
  const store = new WorkloadStore(() => 0);
  const rollouts = rolloutsOf(store);
  const create = (name: string, namespace: string, state: WorkloadState) => {
    const seen = store.upsert(deployment, { name, namespace, uid: name, resourceVersion: '1' })?.workload;
    return seen === undefined ? undefined : store.update(seen, { state });
  };
  const tried = create('tried', 'shop', { kind: 'soaking', since: -20_000, ...probation, ...more });
  create('other', 'shop', reverted);
  create('stranger', 'elsewhere', reverted);
  if (tried !== undefined) rollouts.see(tried, runs);
  const states = [...store.in('shop'), ...store.in('elsewhere')].map(({ state }) => state?.kind);
  expect(states).toEqual(['verified', expected, 'reverted']);
});

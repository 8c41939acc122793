import { describe, expect, it } from '@jest/globals';
import { changed, decided, injector, made } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { none } from '../injection/decision.ts';
import { WorkloadJudge } from './judge-workload.ts';
import { classifyWorkload } from './observations.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import { Rollouts } from './rollouts.ts';
import { WorkloadStore } from './workload-store.ts';

const running = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };

function toJudge() {
  const store = new WorkloadStore(() => 0);
  const config = {
    version: '2.0.0',
    rolloutStrategy: 'immediate',
    rolloutSoakSeconds: 10,
    rolloutDeadlineSeconds: 300,
    rolloutLookSeconds: 20,
  };
  const term = { store, config, signal: new AbortController().signal } as unknown as ReconcilerContext;
  const rollouts = new Rollouts(term);
  const judge = new WorkloadJudge(term, rollouts);
  const see = async (workload: Workload): Promise<string | undefined> => {
    const known = store.upsert(workloadKinds.deployment, workload.metadata)?.workload;
    if (known === undefined) throw new Error('it has an owner');
    rollouts.touch(known);
    await judge.observe(known, { kind: 'left', workload, decision: none('up-to-date', workload) });
    return store.latest(known)?.state?.kind;
  };
  return { see, store };
}

it('takes an injection with the image of another webhook for current, in its namespace alone', () => {
  const text = JSON.stringify(changed(decided(made()))).replace(
    '"image":"autotrace:2"',
    '"image":"mirror/autotrace:2"',
  );
  expect(text).toContain('mirror/');
  const seen = classifyWorkload(JSON.parse(text) as Workload, { injector: 'untried', image: injector.image });
  expect(seen).toMatchObject({ isCurrent: true, isLocal: true });
});

describe('without judgement (rollout.strategy: immediate)', () => {
  const injected = changed(decided(made()));
  const workload = { ...injected, spec: { ...(injected['spec'] as object), replicas: 1 } };
  const version = (resourceVersion: string, status: object): Workload => ({
    ...{ ...workload, status },
    metadata: { ...workload.metadata, uid: 'u', resourceVersion },
  });

  it('knows when the pods of a workload run, from when telemetry is expected', async () => {
    const { see, store } = toJudge();
    expect(await see(version('1', {}))).toBe('unready');
    expect(await see(version('2', running))).toBe('verified');
    expect(await see(version('3', {}))).toBe('verified');
    expect(store.in('shop')).toMatchObject([{ state: { wakeAt: Infinity } }]);
    expect(await see({ ...made(), metadata: { ...made().metadata, uid: 'u', resourceVersion: '4' } })).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { active, changed, decided, injector, made } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { decideRevert } from '../injection/decide-revert.ts';
import { fingerprint } from '../injection/fingerprint.ts';
import { toTemplate } from '../injection/workload.ts';
import { WorkloadChanger } from './change-workload.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import type { ObservedWorkload } from './observed.ts';
import type { WorkloadChange } from './plan-rollout.ts';
import { Rollouts } from './rollouts.ts';
import { WorkloadStore } from './workload-store.ts';

const config = {
  ...{ version: injector.version, injectorImage: injector.image, injectorImagePullSecrets: [], injectorSidecars: [] },
  ...{
    injectorImagePullPolicy: injector.imagePullPolicy,
    telemetryProxyUrl: injector.endpoint,
    platform: 'kubernetes',
  },
  ...{ rolloutStrategy: 'progressive', rolloutSoakSeconds: 10, rolloutDeadlineSeconds: 300 },
};
const nothing = () => undefined;

const injected = (image: string): Workload => {
  const workload = changed(decided(made({ pod: { containers: [{ name: 'app', image }] } })));
  const spec = { ...(workload['spec'] as object), replicas: 1 };
  return { ...workload, spec, metadata: { ...workload.metadata, uid: 'u', resourceVersion: '1' } };
};

type Plan = (known: ObservedWorkload) => Pick<WorkloadChange, 'workload' | 'task'>;

/** Makes the planned change of a workload that the API server has. */
async function change(there: Workload, plan: Plan, more: object = {}) {
  const patched: unknown[] = [];
  const api = {
    readWorkload: () => Promise.resolve(there),
    patchWorkload: (_workload: unknown, patch: unknown) => {
      patched.push(patch);
      return Promise.resolve(there.metadata);
    },
  };
  const logger = { info: nothing, debug: nothing, warn: nothing };
  const metrics = { changes: { inc: nothing }, reverts: { inc: nothing }, missedInjections: { inc: nothing } };
  const store = new WorkloadStore(() => 0);
  const term = {
    ...{ config: { ...config, ...more }, api, store, logger, metrics, signal: new AbortController().signal },
    ...{ events: { isPending: () => false }, lumigoes: { policy: () => active }, lumigoesRead: { isCurrent: true } },
    enqueue: nothing,
  } as unknown as ReconcilerContext;
  const changer = new WorkloadChanger(term, { result: nothing } as unknown as EventRecorder, new Rollouts(term));
  const known = store.upsert(workloadKinds.deployment, there.metadata)?.workload;
  if (known === undefined) throw new Error('it has an owner');
  const planned = plan(known);
  store.update(known, planned.workload);
  await changer.change({ ...planned, policy: active, reason: 'a test' }, undefined);
  return { patched, state: store.latest(known)?.state };
}

const evidence = { cause: 'Crash', message: 'boom' } as const;
const revertOf =
  (failed: Workload): Plan =>
  (known) => {
    const template = fingerprint(toTemplate(failed));
    const state = { kind: 'reverting', evidence, template, attempt: 1, wakeAt: 0 } as const;
    return { workload: { ...known, state }, task: 'revert' };
  };

describe('the changer', () => {
  it('reverts a template whose pods failed', async () => {
    const { patched, state } = await change(injected('app:1'), revertOf(injected('app:1')));
    expect(patched).toHaveLength(1);
    expect(state).toMatchObject({ kind: 'reverted', attempt: 1 });
  });

  it('does not revert another template, which did not fail', async () => {
    const { patched, state } = await change(injected('app:2'), revertOf(injected('app:1')));
    expect(patched).toEqual([]);
    expect(state).toMatchObject({ kind: 'rolling', attempt: 0 });
  });

  it('injects what an earlier rollout reverted only if none is judged (immediate)', async () => {
    const at = '2026-01-01T00:00:00.000Z';
    const reason = { at, cause: 'Crash', attempt: 2, evidence: 'boom' };
    const before = decideRevert({ workload: injected('app:1'), image: injector.image, ...reason });
    if (before === undefined) throw new Error('it has no injection');
    const read: Plan = (known) => ({ workload: known });
    expect((await change(changed(before), read)).patched).toEqual([]);
    expect((await change(changed(before), read, { rolloutStrategy: 'immediate' })).patched).toHaveLength(1);
  });
});

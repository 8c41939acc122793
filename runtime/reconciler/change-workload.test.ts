import { expect, it } from '@jest/globals';
import { active, changed, decided, injector, made } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { fingerprint } from '../injection/fingerprint.ts';
import { toTemplate } from '../injection/workload.ts';
import type { WorkloadState } from '../rollout/workload-state.ts';
import { WorkloadChanger } from './change-workload.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
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

/** Lets the operator revert a workload whose pods failed with the template of `failed`. The API server has `there`. */
async function revert(failed: Workload, there: Workload) {
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
    ...{ config, api, store, logger, metrics, signal: new AbortController().signal, enqueue: nothing },
    ...{ events: { isPending: () => false }, lumigoes: { policy: () => active }, lumigoesRead: { isCurrent: true } },
  } as unknown as ReconcilerContext;
  const changer = new WorkloadChanger(term, { result: nothing } as unknown as EventRecorder, new Rollouts(term));
  const known = store.upsert(workloadKinds.deployment, failed.metadata)?.workload;
  if (known === undefined) throw new Error('it has an owner');
  const evidence = { cause: 'Crash', message: 'boom' } as const;
  const template = fingerprint(toTemplate(failed));
  const state: WorkloadState = { kind: 'reverting', evidence, template, attempt: 1, wakeAt: 0 };
  const workload = store.update(known, { state }) ?? known;
  await changer.change({ workload, policy: active, reason: 'its pods fail', task: 'revert' }, undefined);
  return { patched, state: store.latest(workload)?.state };
}

it('reverts a template whose pods failed', async () => {
  const { patched, state } = await revert(injected('app:1'), injected('app:1'));
  expect(patched).toHaveLength(1);
  expect(state).toMatchObject({ kind: 'reverted', attempt: 1 });
});

it('does not revert another template, which did not fail', async () => {
  const { patched, state } = await revert(injected('app:1'), injected('app:2'));
  expect(patched).toEqual([]);
  expect(state).toMatchObject({ kind: 'rolling', attempt: 0 });
});

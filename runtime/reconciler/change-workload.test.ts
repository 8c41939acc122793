import { expect, it } from '@jest/globals';
import { pino } from 'pino';
import { active, injector, made } from '../../sandbox/testing/injection.ts';
import { annotations, workloadKinds } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { WorkloadChanger } from './change-workload.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import { Rollouts } from './rollouts.ts';
import { WorkloadStore } from './workload-store.ts';

const { deployment } = workloadKinds;
const running = { replicas: 1, updatedReplicas: 1, availableReplicas: 1 };
const version = (resourceVersion: string, more: object = {}): Workload => {
  const { spec, metadata, ...rest } = made();
  const seen = { ...metadata, uid: 'u', resourceVersion, ...more };
  return { ...rest, metadata: seen, spec: { ...(spec as object), replicas: 1 }, status: running };
};

/** Returns a function that looks at a workload, and then changes it as if it were next in the queue. */
function changerWith(rolloutStrategy: RuntimeConfig['rolloutStrategy']) {
  const store = new WorkloadStore(() => 0);
  const term = {
    store,
    config: {
      ...{ rolloutStrategy, rolloutSoakSeconds: 10, rolloutDeadlineSeconds: 300, version: injector.version },
      ...{ injectorImage: injector.image, injectorImagePullPolicy: 'Always', telemetryProxyUrl: injector.endpoint },
    },
    api: { patchWorkload: async () => version('9').metadata },
    lumigoes: { policy: () => active },
    lumigoesRead: { isCurrent: true },
    events: { isPending: () => false },
    metrics: { changes: { inc: () => undefined }, missedInjections: { inc: () => undefined } },
    logger: pino({ enabled: false }),
    signal: new AbortController().signal,
    enqueue: () => undefined,
  } as unknown as ReconcilerContext;
  const recorder = { result: () => undefined } as unknown as EventRecorder;
  const changer = new WorkloadChanger(term, recorder, new Rollouts(term));
  return async (seen: Workload) => {
    const workload = store.upsert(deployment, seen.metadata)?.workload;
    if (workload === undefined) throw new Error('it has an owner');
    const change = { workload, policy: active, reason: 'test' };
    await changer.change(change, seen);
    const state = store.latest(workload)?.state;
    const waits = state?.kind === 'blocked' ? state.reason : state?.kind;
    return { waits, isWritten: await changer.change({ ...change, task: 'inject' }, seen) };
  };
}

const retried = { annotations: { [annotations.retry]: '1' } };

it.each([
  ['on-next-change', 'WaitsForChange', 'WaitsForChange'],
  ['manual', 'WaitsForApproval', 'queued'],
] as const)('leaves existing workloads with %s: %s, after a retry %s', async (strategy, before, after) => {
  const change = changerWith(strategy);
  expect(await change(version('1'))).toEqual({ waits: before, isWritten: false });
  expect(await change(version('2', retried))).toEqual({ waits: after, isWritten: after === 'queued' });
});

import { describe, expect, it } from '@jest/globals';
import { workloads } from '../contract.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { OnTrial, Queued, Reverted, Rollout } from '../rollout/rollout.ts';
import type { ObservedPod } from '../rollout/trial.ts';
import type { ObservedNamespace, ObservedRollout, ObservedWorkload } from './observed.ts';
import { planWorkloads } from './plan-workloads.ts';

const [deployment] = workloads;
const tracing = { secretName: 's', secretKey: 'k', traces: true, logs: false };
const policy: NamespacePolicy = {
  ...{ state: 'active', lumigo: 'lumigo', tracing, createdAt: '2026-01-02', injectExisting: true, remove: true },
};
const other: NamespacePolicy = { ...policy };

/** Milliseconds of the monotonic clock, and the same moment for people. */
const NOW = { ms: 1_000_000, iso: '2026-11-22T12:00:00Z' };
const epoch = Date.parse(NOW.iso);
const ago = (seconds: number): number => epoch - seconds * 1_000;

const shape = { desired: 2, running: 2, blocked: undefined, refused: undefined };
const blocked = { ...shape, blocked: { reason: 'Paused', message: 'is paused' } } as const;
const unhealthy = {
  ...shape,
  blocked: { reason: 'Unhealthy', message: 'has 1 of 2 pods not ready' },
} as const;
const rollingOut = { ...shape, blocked: { reason: 'RollingOut', message: 'is in the middle of a rollout' } } as const;
const queued = (more: Partial<Queued> = {}): Rollout => ({
  ...{ state: 'queued', policy, shape, granted: false, seenVersion: '10', seenAt: NOW.ms, ...more },
});
const trialOf = (seconds: number, wasHealthy = true, more: Partial<OnTrial> = {}): Rollout => ({
  ...{ state: 'trial', policy, provenAt: undefined, seenAt: NOW.ms, checkAt: NOW.ms + 5_000, ...more },
  trial: { shape, record: 'ours', changedAt: ago(seconds), wasHealthy },
});
const note = { cause: 'Crash', evidence: 'boom', template: '', injection: '' };
const reverted = (seconds: number, more: Partial<Reverted> = {}): Rollout => ({
  ...{ state: 'reverted', policy, shape, isOpen: false, seenAt: NOW.ms, checkAt: NOW.ms + 5_000 },
  progress: { most: 2, at: NOW.ms - seconds * 1_000 },
  ...more,
  note: { ...note, at: new Date(ago(seconds)).toISOString(), ...more.note },
});

const settled = (rollout: Rollout | undefined): boolean => rollout?.state !== 'queued' && rollout !== undefined;
const workload = (name: string, rollout?: Rollout, more: Partial<ObservedWorkload> = {}): ObservedWorkload => ({
  ...{ kind: deployment, namespace: 'shop', name, uid: name, resourceVersion: '10', generation: 1 },
  ...{ createdAt: '2026-01-01', label: undefined, deleting: false, rollout },
  settled: settled(rollout) ? policy : undefined,
  ...more,
});
const pod = (seconds: number | undefined, more: Partial<ObservedPod> = {}): ObservedPod => ({
  ...{
    name: 'p',
    uid: 'p',
    record: 'ours',
    readySince: seconds === undefined ? undefined : ago(seconds),
    evidence: undefined,
  },
  ...more,
});
const pods = (...of: ObservedPod[]) => new Map([['Deployment/a', of]]);
const crash = { cause: 'Crash', message: 'boom' } as const;
const denied = { policy, count: 4, refusedSince: 1, problem: 'denied' };

function plan(there: readonly ObservedWorkload[], more: Partial<ObservedRollout> = {}) {
  const settings = { soakMs: 10_000, deadlineMs: 60_000, largestWave: 50, label: 'lumigo-operator.v1' };
  const rollout = { settings, pods: new Map(), hasTurn: true, revertedInCluster: 0, ...more };
  const observed: ObservedNamespace = {
    ...{ policy, isLumigoGone: false, lumigoes: [], acting: undefined, credential: undefined, workloads: there },
    ...{
      webhook: undefined,
      telemetry: undefined,
      token: {},
      untold: 0,
      removalDeadlineMs: 1_000,
      underWay: 1,
      rollout,
    },
  };
  const planned = planWorkloads(observed, NOW);
  const done = planned.changes.map(({ workload: { name }, task }) => `${task?.do ?? 'check'} ${name}`);
  const noted = planned.rollout.noted.map(([{ name }, to]) => {
    if (to?.state === 'queued') return `grant ${name}`;
    return `${name} is ${to?.state === 'trial' ? 'proven' : (to?.state ?? 'forgotten')}`;
  });
  return { ...planned, does: [...done, ...noted] };
}

/** What is known of the workloads of a namespace, and what is done. */
const cases: readonly [string, readonly ObservedWorkload[], readonly string[], Partial<ObservedRollout>?][] = [
  ['what is not known yet is checked', [workload('a')], ['check a']],
  ['whose turn it is, is not known before all are checked', [workload('a', queued()), workload('b')], ['check b']],
  ['the first gets its turn', [workload('a', queued()), workload('b', queued())], ['grant a']],
  ['nobody gets one where the namespace has none', [workload('a', queued())], [], { hasTurn: false }],
  ['who has a turn is injected', [workload('a', queued({ granted: true })), workload('b', queued())], ['inject a']],
  ['others wait meanwhile', [workload('a', trialOf(5)), workload('b', queued())], [], { pods: pods(pod(3), pod(3)) }],
  [
    'also while it is being written',
    [workload('a', queued({ granted: true }), { attempt: { policy, stamp: undefined } }), workload('b', queued())],
    [],
  ],
  [
    'what runs for long enough is proven',
    [workload('a', trialOf(30))],
    ['a is proven'],
    { pods: pods(pod(20), pod(11)) },
  ],
  [
    'then two more follow',
    [
      workload('a', trialOf(30, true, { provenAt: NOW.ms })),
      ...['b', 'c', 'd'].map((name) => workload(name, queued())),
    ],
    ['grant b', 'grant c'],
    { pods: pods(pod(20), pod(20)) },
  ],
  [
    'a workload whose pods fail is reverted',
    [workload('a', trialOf(5))],
    ['revert a'],
    { pods: pods(pod(undefined, { evidence: crash })) },
  ],
  [
    'a workload whose pods fail late is reverted, too',
    [workload('a', trialOf(60, true, { provenAt: NOW.ms - 30_000 }))],
    ['revert a'],
    { pods: pods(pod(50), pod(undefined, { evidence: crash })) },
  ],
  [
    'F58: nobody else gets a turn in the moment in which it does',
    [workload('a', trialOf(60, true, { provenAt: NOW.ms - 30_000 })), workload('b', queued())],
    ['revert a'],
    { pods: pods(pod(50), pod(undefined, { evidence: crash })) },
  ],
  [
    'F58: nor while what is proven and watched still is not ready',
    [workload('a', trialOf(60, true, { provenAt: NOW.ms - 30_000 })), workload('b', queued())],
    [],
    { pods: pods(pod(50), pod(undefined)) },
  ],
  [
    'and where it has only become smaller, a check shows that',
    [workload('a', trialOf(60, true, { provenAt: NOW.ms - 30_000, checkAt: NOW.ms })), workload('b', queued())],
    ['check a'],
    { pods: pods(pod(50)) },
  ],
  [
    'what lasted is watched no longer',
    [workload('a', trialOf(300, true, { provenAt: NOW.ms - 121_000 }))],
    ['a is proven'],
    { pods: pods(pod(200), pod(200)) },
  ],
  ['nothing is concluded before the pods are known', [workload('a', trialOf(500))], [], { pods: undefined }],
  [
    'what takes long is checked now and then',
    [workload('a', trialOf(20, true, { checkAt: NOW.ms }))],
    ['check a'],
    { pods: pods(pod(undefined)) },
  ],
  [
    'but not while one of its pods after the other gets ready',
    [workload('a', trialOf(60, true, { checkAt: NOW.ms }))],
    [],
    { pods: pods(pod(14), pod(undefined)) },
  ],
  ['nor once all are', [workload('a', trialOf(60, true, { checkAt: NOW.ms }))], [], { pods: pods(pod(50), pod(2)) }],
  [
    'what the webhook injected keeps nobody waiting',
    [workload('a', trialOf(5, false)), workload('b', queued())],
    ['grant b'],
    { pods: pods(pod(undefined)) },
  ],
  [
    'a reverted workload is watched until it runs',
    [workload('a', reverted(5, { isOpen: true, shape: blocked })), workload('b', queued())],
    [],
  ],
  ['what runs again stays as it was', [workload('a', reverted(5, { isOpen: true }))], ['a is reverted']],
  [
    'what fails all the same is forgiven',
    [workload('a', reverted(121, { isOpen: true, shape: unhealthy }))],
    ['forgive a'],
  ],
  [
    'once that was read a moment ago',
    [workload('a', reverted(121, { isOpen: true, shape: unhealthy, seenAt: NOW.ms - 16_000 }))],
    ['check a'],
  ],
  ['not while it is paused', [workload('a', reverted(900, { isOpen: true, shape: blocked }))], []],
  [
    'nor while its pods are still being replaced by those without the injection',
    [workload('a', reverted(900, { isOpen: true, shape: rollingOut, progress: { most: 76, at: NOW.ms - 100_000 } }))],
    [],
  ],
  [
    'but where that has come to a halt',
    [workload('a', reverted(900, { isOpen: true, shape: rollingOut, progress: { most: 3, at: NOW.ms - 121_000 } }))],
    ['forgive a'],
  ],
  [
    'a failed revert is retried later',
    [workload('a', trialOf(5), { settled: undefined, failure: { ...denied, retryAt: NOW.ms + 1 } })],
    [],
    { pods: pods(pod(undefined, { evidence: crash })) },
  ],
  [
    'and then tried again',
    [workload('a', trialOf(5), { failure: { ...denied, retryAt: NOW.ms } })],
    ['revert a'],
    { pods: pods(pod(undefined, { evidence: crash })) },
  ],
  [
    'a failed check is retried later, on trial or reverted',
    [
      workload('a', trialOf(20, true, { checkAt: NOW.ms }), { failure: { ...denied, retryAt: NOW.ms + 1 } }),
      workload('b', reverted(20, { isOpen: true, shape: unhealthy, checkAt: NOW.ms }), {
        failure: { ...denied, retryAt: NOW.ms + 1 },
      }),
    ],
    [],
    { pods: pods(pod(undefined)) },
  ],
  [
    'a workload that is not ready in time is reverted',
    [workload('a', trialOf(90))],
    ['revert a'],
    { pods: pods(pod(61), pod(undefined)) },
  ],
  [
    'but read again before: one pod fewer may be wanted by now',
    [workload('a', trialOf(90, true, { seenAt: NOW.ms - 16_000 }))],
    ['check a'],
    { pods: pods(pod(61)) },
  ],
  ['after one the next may try', [workload('a', reverted(60)), workload('b', queued())], ['grant b']],
  ['after two nobody may', [workload('a', reverted(60)), workload('b', reverted(60)), workload('c', queued())], []],
  ['after five of the cluster nobody may', [workload('a', queued())], [], { revertedInCluster: 5 }],
  [
    'after one for which the injector is to blame nobody may',
    [workload('a', reverted(60, { note: { ...note, at: NOW.iso, cause: 'InjectorImage' } })), workload('b', queued())],
    [],
  ],
  ['what is blocked waits', [workload('a', queued({ shape: blocked })), workload('b', queued())], ['grant b']],
  [
    'what is blocked and has changed is checked',
    [workload('a', queued({ shape: blocked, seenVersion: '9', seenAt: NOW.ms - 5_000 }))],
    ['check a'],
  ],
  [
    'and so it is after a while in any case',
    [workload('a', queued({ shape: blocked, seenAt: NOW.ms - 300_000 }))],
    ['check a'],
  ],
  [
    'what is refused makes room for others',
    [
      workload('a', queued(), { failure: { policy, count: 1, refusedSince: 0, retryAt: NOW.ms + 1, problem: 'no' } }),
      workload('b', queued()),
    ],
    ['grant b'],
  ],
  [
    'F1: what holds under another policy does not count',
    [workload('a', { ...queued({ granted: true }), policy: other })],
    ['check a'],
  ],
];

describe('a rollout', () => {
  it.each(cases)('%s', (_title, there, expected, more = {}) => expect(plan(there, more).does).toEqual(expected));

  it('wants pods while one is on trial, and its turn while something is under way or could be', () => {
    const wants = (...there: ObservedWorkload[]) => {
      const { needsPods, wantsTurn } = plan(there).rollout;
      return [needsPods, wantsTurn];
    };
    expect(wants()).toEqual([false, false]);
    expect(wants(workload('a', queued()))).toEqual([false, true]);
    expect(wants(workload('a', trialOf(1)))).toEqual([true, true]);
    expect(wants(workload('a', trialOf(1, false)))).toEqual([true, false]);
    expect(wants(workload('a', queued({ shape: blocked })))).toEqual([false, false]);
    expect(wants(workload('a', reverted(60)), workload('b', reverted(60)), workload('c', queued()))).toEqual([
      false,
      false,
    ]);
  });

  it('is planned again by itself where the cluster halts it, since nothing of its own namespace tells when that ends', () => {
    const halted = plan([workload('a', queued())], { revertedInCluster: 5 });
    expect(halted.rollout).toMatchObject({ wantsTurn: false, summary: { halted: expect.any(String) } });
    expect(halted.wakeAt).toBe(NOW.ms + 60_000);
    expect(plan([workload('a', queued())]).wakeAt).toBe(Infinity);
  });

  it('has a pod go that was broken, where its controller waits for it, and blames nobody before it is gone', () => {
    const late = reverted(121, { isOpen: true, shape: unhealthy });
    const db = { ...workload('a', late), kind: workloads[2] };
    const of = (...found: ObservedPod[]) => ({ pods: new Map([['StatefulSet/a', found]]) });
    const old = pod(undefined, { uid: 'old', record: undefined });
    expect(plan([db], of(pod(undefined), old, pod(9, { uid: 'runs' })))).toMatchObject({
      does: [],
      rollout: { broken: [{ uid: 'p' }], needsPods: true, wakeAt: NOW.ms + 10_000 },
    });
    const early = { ...db, rollout: reverted(5, { isOpen: true }) };
    expect(plan([early], of(pod(undefined))).rollout.broken).toHaveLength(1);
    expect(plan([db], { pods: undefined }).does).toEqual([]);
    expect(plan([db], of(old))).toMatchObject({ does: ['forgive a'], rollout: { broken: [] } });
    expect(plan([workload('a', late)], { pods: pods(pod(undefined)) }).rollout.broken).toEqual([]);
  });

  it('counts what runs the injection of another version', () => {
    const there = ['lumigo-operator.v1', 'lumigo-operator.v0.9', undefined].map((label, index) =>
      workload(`w${index}`, undefined, { label, settled: policy }),
    );
    expect(plan(there).progress).toMatchObject({ instrumented: 2, older: 1 });
  });

  it('names what is proven and not ready where others wait for it, and not where nobody does', () => {
    const late = workload('a', trialOf(60, true, { provenAt: NOW.ms - 30_000 }));
    const named = (...others: ObservedWorkload[]) =>
      plan([late, ...others], { pods: pods(pod(50), pod(undefined)) }).rollout.summary.underWay.map(({ name }) => name);
    expect(named(workload('b', queued()))).toEqual(['a']);
    expect(named()).toEqual([]);
  });

  it('wakes when a soak ends, and when what is blocked is to be looked at again', () => {
    expect(plan([workload('a', trialOf(9))], { pods: pods(pod(4), pod(5)) }).wakeAt).toBe(NOW.ms + 7_000);
    expect(plan([workload('a', queued({ shape: blocked }))]).wakeAt).toBe(NOW.ms + 300_000);
  });
});

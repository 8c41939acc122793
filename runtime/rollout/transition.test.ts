import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Completion } from './completion.ts';
import type { Evidence } from './evidence.ts';
import { transition } from './transition.ts';
import { idle, LATE_MS, LOOK_MS, type Observation, type Transition, type WorkloadState } from './workload-state.ts';

const settings = { soakMs: 10_000, deadlineMs: 300_000 };
const [minute, hour] = [60_000, 3_600_000];
const crash: Evidence = { cause: 'Crash', message: 'it crashed' };
const noImage: Evidence = { cause: 'InjectorImage', message: 'there is no image' };

const progressing = (available: number, more: Partial<Completion & { kind: 'progressing' }> = {}): Completion => ({
  ...{ kind: 'progressing', available, wanted: 2, isReplacing: true },
  ...more,
});
const complete: Completion = { kind: 'complete' };
const due = (completion: Completion, injector: 'verified' | 'unknown' | 'failing' = 'unknown'): Observation => ({
  ...{ kind: 'due', completion, injector },
});
const status = (completion: Completion, unchangedSince = 0): Observation => ({
  ...{ kind: 'status', completion, unchangedSince },
});
const pods = (evidence?: Evidence): Observation => ({ kind: 'pods', evidence });
const time: Observation = { kind: 'time' };
const touched: Observation = { kind: 'touched' };

const queued: WorkloadState = { kind: 'queued', attempt: 0 };
const blocked: WorkloadState = { kind: 'blocked', reason: 'Paused', attempt: 0, wakeAt: 5 * minute };
const probation = { progress: { available: 0, at: 0 }, attempt: 0, wakeAt: 10_000 };
const rolling: WorkloadState = { kind: 'rolling', ...probation };
const looked: WorkloadState = { ...rolling, look: { evidence: crash, at: 20_000 } };
const soaking: WorkloadState = { kind: 'soaking', since: 0, ...probation, progress: { available: 2, at: 0 } };
const verified: WorkloadState = { kind: 'verified', until: LATE_MS, ...probation };
const reverting: WorkloadState = { kind: 'reverting', evidence: crash, attempt: 1 };
const reverted: WorkloadState = { kind: 'reverted', evidence: crash, attempt: 1, wakeAt: 10 * minute };

/** Each row: a state, what is observed and when (in milliseconds), and what follows. */
type Row = readonly [title: string, from: WorkloadState, seen: Observation, at: number, to: Partial<Transition>];

const rows: readonly Row[] = [
  // Before the injection.
  ['a healthy workload is queued', idle, due(complete), 0, { state: queued }],
  ['a paused one is blocked', idle, due({ kind: 'paused' }), 0, { state: { ...blocked, reason: 'Paused' } }],
  [
    'one in the middle of a rollout is blocked',
    idle,
    due(progressing(1)),
    0,
    { state: { ...blocked, reason: 'RollingOut' } },
  ],
  [
    'an unhealthy one is blocked',
    idle,
    due(progressing(1, { isReplacing: false })),
    0,
    { state: { ...blocked, reason: 'Unhealthy' } },
  ],
  [
    'one whose pods cannot judge waits for a verified injector [F67]',
    idle,
    due({ kind: 'no-pods' }),
    0,
    { state: { ...blocked, reason: 'InjectorUnverified' } },
  ],
  [
    'it waits while the injector fails [F67]',
    idle,
    due({ kind: 'no-pods' }, 'failing'),
    0,
    { state: { ...blocked, reason: 'InjectorUnverified' } },
  ],
  [
    'it is queued once the injector is verified [F67]',
    blocked,
    due({ kind: 'no-pods' }, 'verified'),
    0,
    { state: queued },
  ],
  ['a blocked one that changes is read soon', blocked, touched, 1_000, { state: { ...blocked, wakeAt: 6_000 } }],
  ['a blocked one is read again in time', blocked, time, 5 * minute, { action: 'read' }],
  // The injection is written.
  ['it rolls', queued, { kind: 'injected' }, 0, { state: rolling }],
  ['its status is read at first after the soak', rolling, time, 10_000, { action: 'read' }],
  ['not before', rolling, time, 9_999, { state: rolling }],
  [
    'a change puts the read off, and not beyond the appointed time',
    { ...rolling, wakeAt: 20_000 },
    touched,
    12_000,
    { state: { ...rolling, wakeAt: 20_000 } },
  ],
  // Kubernetes' status is the judge.
  [
    'a status complete for as long as the soak verifies',
    rolling,
    status(complete, 2_000),
    12_000,
    { state: { ...verified, until: 12_000 + LATE_MS, wakeAt: 12_000 + LATE_MS } },
  ],
  [
    'a younger one soaks',
    rolling,
    status(complete, 9_000),
    12_000,
    { state: { ...rolling, kind: 'soaking', since: 9_000, wakeAt: 19_000 } as WorkloadState },
  ],
  [
    'a status that was complete before the write counts from the write on',
    { ...rolling, progress: { available: 0, at: 9_000 } },
    status(complete, 1),
    12_000,
    { state: { kind: 'soaking', since: 9_000 } as never },
  ],
  ['the soak ends', soaking, status(complete), 10_000, { state: { kind: 'verified' } as never }],
  [
    'a pod that becomes available is progress',
    looked,
    status(progressing(1)),
    25_000,
    { state: { ...rolling, progress: { available: 1, at: 25_000 }, wakeAt: 45_000 } },
  ],
  [
    'a pause stops the clock',
    looked,
    status({ kind: 'paused' }),
    2 * hour,
    { state: { ...rolling, progress: { available: 0, at: 2 * hour }, wakeAt: 2 * hour + LOOK_MS } },
  ],
  [
    'a rollout that makes no progress is looked at',
    rolling,
    status(progressing(0)),
    20_000,
    { action: 'look-at-pods' },
  ],
  ['not before 20 s', rolling, status(progressing(0)), 19_000, { state: { ...rolling, wakeAt: 39_000 } }],
  [
    'no further pod for the deadline reverts',
    rolling,
    status(progressing(0)),
    300_000,
    { action: 'revert', state: { kind: 'reverting', attempt: 1, evidence: { cause: 'NotReady' } } as never },
  ],
  ['a change to no replicas ends it', rolling, status({ kind: 'no-pods' }), 1_000, { state: idle }],
  [
    'a soaking one that loses a pod rolls anew',
    soaking,
    status(progressing(1)),
    5_000,
    { state: { ...rolling, progress: { available: 1, at: 5_000 }, wakeAt: 25_000 } },
  ],
  // Two looks.
  ['one look convicts nothing [F64]', rolling, pods(crash), 20_000, { state: { ...looked, wakeAt: 40_000 } }],
  ['a second look that is too early convicts nothing [F64]', looked, pods(crash), 39_999, { state: looked }],
  ['a second look that agrees reverts', looked, pods(crash), 40_000, { action: 'revert', state: reverting }],
  [
    'another cause begins anew',
    looked,
    pods(noImage),
    40_000,
    { state: { ...rolling, look: { evidence: noImage, at: 40_000 }, wakeAt: 60_000 } },
  ],
  ['a look that shows nothing clears the first [F64]', looked, pods(), 40_000, { state: rolling }],
  [
    'refused pods are a look',
    rolling,
    status(progressing(0, { refused: 'quota' })),
    10_000,
    { state: { kind: 'rolling', look: { evidence: { cause: 'PodsRefused' }, at: 10_000 } } as never },
  ],
  // Late failures.
  ['a verified one that changes is read', verified, touched, 30_000, { state: { ...verified, wakeAt: 10_000 } }],
  ['one that lost a pod is looked at', verified, status(progressing(1)), 30_000, { action: 'look-at-pods' }],
  [
    'two looks revert it as well',
    { ...verified, look: { evidence: crash, at: 30_000 } },
    pods(crash),
    50_000,
    { action: 'revert', state: reverting },
  ],
  ['it is over after two minutes', verified, time, LATE_MS, { state: idle }],
  // The revert, and what follows.
  ['a revert is asked for until it is done', reverting, time, 0, { action: 'revert' }],
  ['it is tried again after ten minutes', reverting, { kind: 'removed' }, 0, { state: reverted }],
  [
    'after an hour the second time',
    { ...reverting, attempt: 2 },
    { kind: 'removed' },
    0,
    { state: { ...reverted, attempt: 2, wakeAt: hour } },
  ],
  [
    'daily in the end',
    { ...reverting, attempt: 9 },
    { kind: 'removed' },
    0,
    { state: { ...reverted, attempt: 9, wakeAt: 24 * hour } },
  ],
  ['not before that', reverted, due(complete), 10 * minute - 1, { state: reverted }],
  ['then it is queued', reverted, time, 10 * minute, { state: { kind: 'queued', attempt: 1 } }],
  ['a changed program is tried at once', reverted, { kind: 'changed' }, 1, { state: queued }],
  [
    'an injection counts the attempts before it',
    { kind: 'queued', attempt: 1 },
    { kind: 'injected' },
    0,
    { state: { ...rolling, attempt: 1 } },
  ],
  [
    'the webhook may inject what was reverted',
    reverted,
    { kind: 'injected' },
    0,
    { state: { ...rolling, attempt: 1 } },
  ],
  ['a removal for another reason ends it', rolling, { kind: 'removed' }, 0, { state: idle }],
];

describe('the transition of a workload', () => {
  it.each(rows)('%s', (_title, from, seen, at, to) => expect(transition(from, seen, at, settings)).toMatchObject(to));
});

const completions: fc.Arbitrary<Completion> = fc.constantFrom<Completion>(
  ...([complete, { kind: 'paused' }, { kind: 'no-pods' }, progressing(0), progressing(1)] as const),
  progressing(0, { refused: 'quota' }),
);
const observations: fc.Arbitrary<Observation> = fc.oneof(
  { weight: 1, arbitrary: completions.map((each) => due(each, 'verified')) },
  { weight: 3, arbitrary: fc.tuple(completions, fc.nat(100_000)).map(([each, since]) => status(each, since)) },
  { weight: 6, arbitrary: fc.constantFrom(undefined, crash, crash, noImage).map(pods) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Observation>(
      { kind: 'injected' },
      touched,
      time,
      { kind: 'changed' },
      { kind: 'removed' },
    ),
  },
);
/** Half of them begin with an injection. */
const history = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(observations, fc.nat(30_000)), { minLength: 1, maxLength: 60 }))
  .map(([isInjected, steps]) => (isInjected ? [[{ kind: 'injected' } as Observation, 0] as const, ...steps] : steps));

/** Every transition of a history, with the time at which it happened. */
function follow(steps: readonly (readonly [Observation, number])[]) {
  let [state, now] = [idle, 0];
  return steps.map(([seen, afterMs]) => {
    now += afterMs;
    const before = state;
    const { state: after, action } = transition(before, seen, now, settings);
    state = after;
    return { before, seen, now, after, action };
  });
}

describe('any history of a workload', () => {
  it('convicts by two looks 20 s apart, or by the deadline, and by nothing else [F64]', () => {
    let convictions = 0;
    fc.assert(
      fc.property(history, (steps) => {
        for (const { before, after, now } of follow(steps)) {
          if (after.kind !== 'reverting' || before.kind === 'reverting') continue;
          convictions += 1;
          if (!('progress' in before)) throw new Error(`${before.kind} was convicted`);
          const byLooks = before.look !== undefined && now - before.look.at >= LOOK_MS;
          expect(byLooks || now - before.progress.at >= settings.deadlineMs).toBe(true);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(convictions).toBeGreaterThan(100);
  });

  it('leaves no state from which time leads nowhere, but idle and queued', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const last = follow(steps).at(-1);
        if (last === undefined || last.after.kind === 'idle' || last.after.kind === 'queued') return;
        const wakeAt = 'wakeAt' in last.after ? last.after.wakeAt : last.now;
        const { state, action } = transition(last.after, time, Math.max(last.now, wakeAt), settings);
        expect(action !== undefined || state.kind === 'queued' || state.kind === 'idle').toBe(true);
      }),
    );
  });
});

import { describe, expect, it } from '@jest/globals';
import { workloadKinds } from '../contract.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { Evidence } from '../rollout/evidence.ts';
import { idle, OVERDUE_MS, type WorkloadState } from '../rollout/workload-state.ts';
import type { ObservedNamespace, ObservedRollout, ObservedWorkload } from './observed.ts';
import { planWorkloads } from './plan-workloads.ts';

const tracing = { secretName: 's', secretKey: 'k', traces: true, logs: false };
const policy: NamespacePolicy = {
  ...{ kind: 'active', lumigo: 'lumigo', tracing, createdAt: '2026-01-02', injectExisting: true, remove: true },
};
const disabled: NamespacePolicy = { kind: 'disabled', lumigo: 'lumigo', remove: true };
const inactive: NamespacePolicy = { kind: 'inactive', lumigo: 'lumigo', reason: 'SecretNotFound' };

/** Milliseconds of the monotonic clock, and the same moment in ISO format. */
const NOW = { ms: 1_000_000, iso: '2026-11-22T12:00:00Z' };

const risk = { rank: 0, pods: 2 } as const;
const crash: Evidence = { cause: 'Crash', message: 'boom' };
const noImage: Evidence = { cause: 'InjectorImage', message: 'not found' };
const probation = {
  progress: { available: 0, at: NOW.ms },
  template: 'one',
  isCurrent: true,
  attempt: 0,
  wakeAt: NOW.ms + 5_000,
};
const queued: WorkloadState = { kind: 'queued', risk, isNext: false, attempt: 0 };
const retry: WorkloadState = { ...queued, freed: 'retry' };
const next: WorkloadState = { ...queued, isNext: true };
const cron: WorkloadState = { ...queued, risk: { rank: 4, pods: 1 } };
const blocked: WorkloadState = { kind: 'blocked', reason: 'Paused', risk, attempt: 0, wakeAt: NOW.ms + 300_000 };
const unverified: WorkloadState = { ...blocked, reason: 'InjectorUnverified' };
const rolling: WorkloadState = { kind: 'rolling', ...probation };
const soaking: WorkloadState = { kind: 'soaking', since: NOW.ms, ...probation };
const verified: WorkloadState = { kind: 'verified', until: NOW.ms, ...probation, wakeAt: Infinity };
const late: WorkloadState = { ...verified, until: NOW.ms + OVERDUE_MS, wakeAt: NOW.ms + OVERDUE_MS };
const untested: WorkloadState = { kind: 'untested', ...probation, wakeAt: Infinity };
const first: WorkloadState = { ...untested, first: 'awaited', wakeAt: NOW.ms + 5_000 };
const reverting: WorkloadState = { kind: 'reverting', evidence: crash, template: 'one', attempt: 1, wakeAt: 0 };
const reverted: WorkloadState = { kind: 'reverted', evidence: crash, risk, attempt: 1, wakeAt: NOW.ms + 600_000 };
const injectorFailed: WorkloadState = { ...reverted, evidence: noImage };
const kept: WorkloadState = { ...injectorFailed, isKept: true };
const evicting = (then: WorkloadState): WorkloadState => ({ kind: 'evicting', since: 0, then, wakeAt: NOW.ms });

const workload = (name: string, state?: WorkloadState, more: Partial<ObservedWorkload> = {}): ObservedWorkload => ({
  ...{ kind: workloadKinds.deployment, namespace: 'shop', name, uid: name, resourceVersion: '10', generation: 1 },
  ...{ createdAt: '2026-01-01', label: undefined, deleting: false, state },
  checkedUnder: state === undefined ? undefined : policy,
  ...more,
});
const job = (name: string, state?: WorkloadState): ObservedWorkload => ({
  ...workload(name, state),
  kind: workloadKinds.job,
});
const failedBy = (name: string) => workload(name, injectorFailed);
const denied = { policy, count: 4, refusedSince: 1, problem: 'denied' };
const write = { policy, at: NOW.ms - 1_000, touchedAt: NOW.ms, repeats: 1 };
const undone = workload('a', rolling, { checkedUnder: undefined, write });

type More = Partial<ObservedRollout> & { readonly under?: NamespacePolicy };

function plan(there: readonly ObservedWorkload[], { under = policy, ...more }: More = {}) {
  const settings = {
    soakMs: 10_000,
    deadlineMs: 60_000,
    lookMs: 20_000,
    largestBatch: 50,
    label: 'lumigo-operator.v1',
  };
  const rollout: ObservedRollout = { settings, injector: 'unknown', hasRun: false, hasSlot: true, ...more };
  const observed: ObservedNamespace = {
    ...{ policy: under, lumigoes: [], effective: undefined, credential: undefined, workloads: there },
    ...{ webhook: undefined, telemetry: undefined, token: {}, pendingEvents: 0, removalDeadlineMs: 1_000, underWay: 1 },
    telemetryExpectedWithinMs: 3_600_000,
    rollout,
  };
  const planned = planWorkloads(observed, NOW);
  const done = planned.changes.map(({ workload: { name }, task }) => `${task ?? 'read'} ${name}`);
  const stateChanges = planned.rollout.stateChanges.map(({ name, state: to = idle }) =>
    to.kind === 'queued' && to.isNext ? `${name} is next` : `${name} is ${to.kind}`,
  );
  return { ...planned, does: [...done, ...stateChanges] };
}

const cases: readonly [string, readonly ObservedWorkload[], readonly string[], More?][] = [
  ['an unknown workload is read', [workload('a')], ['read a']],
  ['the next one is chosen once all are known', [workload('a', queued), workload('b')], ['read b']],
  ['one is the first', [workload('a', queued), workload('b', queued)], ['a is next']],
  ['none is where the namespace has no turn', [workload('a', queued)], [], { hasSlot: false }],
  ['the next one is injected', [workload('a', next), workload('b', queued)], ['inject a']],
  ['no other goes while one rolls', [workload('a', rolling), workload('b', queued)], []],
  ['nor while one soaks', [workload('a', soaking), workload('b', queued)], []],
  ['nor while one is being reverted', [workload('a', reverting), workload('b', queued)], ['revert a']],
  [
    'nor while one is being written',
    [workload('a', next, { inFlight: { injectionStatus: undefined } }), workload('b', queued)],
    [],
  ],
  [
    'after one is verified two more go, while it is read still',
    [workload('a', late), ...['b', 'c', 'd'].map((name) => workload(name, queued))],
    ['b is next', 'c is next'],
  ],
  ['a status is read when it is due', [workload('a', { ...rolling, wakeAt: NOW.ms })], ['read a']],
  ['a blocked one is read when it is due', [workload('a', { ...blocked, wakeAt: NOW.ms })], ['read a']],
  ['a blocked one delays no other', [workload('a', blocked), workload('b', queued)], ['b is next']],
  ['broken pods are evicted when that is due', [workload('a', evicting(reverted))], ['evict a']],
  [
    'which delays no other workload',
    [workload('a', evicting(reverted)), workload('b', queued)],
    ['evict a', 'b is next'],
  ],
  ['but the revert counts meanwhile', [workload('a', evicting(injectorFailed)), workload('b', queued)], ['evict a']],
  ['after one revert the next may try', [workload('a', reverted), workload('b', queued)], ['b is next']],
  ['after two none may', [workload('a', reverted), workload('b', reverted), workload('c', queued)], []],
  ['after a failure of the injector none may', [workload('a', injectorFailed), workload('b', queued)], []],
  ['none may while the cluster fails', [workload('a', queued)], [], { injector: 'failing' }],
  [
    'a revert is tried again in its time, which ends the halt',
    [workload('a', { ...injectorFailed, wakeAt: NOW.ms }), workload('b', queued)],
    ['a is queued', 'a is next'],
  ],
  ['a retry goes while others are reverted', [workload('a', retry), ...['b', 'c'].map(failedBy)], ['a is next']],
  ['also while the cluster fails', [workload('a', retry)], ['a is next'], { injector: 'failing' }],
  ['one retry goes at a time', [workload('a', retry), workload('b', retry), failedBy('c')], ['a is next']],
  [
    'the other retries follow one that is verified in batches',
    [workload('v', { ...late, freed: 'retry' }), ...['a', 'b', 'c'].map((name) => workload(name, retry))],
    ['a is next', 'b is next'],
  ],
  [
    'but not during a halt',
    [workload('v', { ...late, freed: 'retry' }), ...['a', 'b'].map((name) => workload(name, retry)), failedBy('c')],
    ['a is next'],
  ],
  [
    'nor long after it',
    [workload('v', { ...verified, freed: 'retry' }), ...['a', 'b'].map((name) => workload(name, retry))],
    ['a is next'],
  ],
  ['none while another one rolls', [workload('a', retry), workload('b', rolling), failedBy('c')], []],
  [
    'a halt ends with one try, and not with a batch',
    [
      ...Array.from({ length: 9 }, (_, index) => workload(`v${index}`, verified)),
      ...['a', 'b'].map((name) => workload(name, { ...reverted, wakeAt: NOW.ms })),
      workload('c', queued),
    ],
    ['a is queued', 'b is queued', 'a is next'],
  ],
  ['a workload without pods goes last [F67]', [workload('c', cron), workload('s', queued)], ['s is next']],
  ['it waits while others show how the injector fares [F67]', [workload('c', unverified)], []],
  [
    'it is queued once the injector runs [F67]',
    [workload('c', unverified)],
    ['c is queued', 'c is next'],
    { injector: 'verified' },
  ],
  [
    'it goes first where there is nothing else [F67]',
    ['c', 'd'].map((name) => workload(name, cron)),
    ['c is next'],
    { injector: 'untried' },
  ],
  [
    'the others follow the first of them [F67]',
    [workload('b', untested), ...['c', 'd'].map((name) => workload(name, cron))],
    ['c is next', 'd is next'],
  ],
  ['but not before it was read once [F67]', [workload('b', first), workload('c', cron)], []],
  ['a new Job is read, which delays no other', [job('j'), workload('a', queued)], ['read j', 'a is next']],
  [
    'the pods of a Job delay only what has no pods',
    [job('j', first), workload('a', cron), workload('b', queued)],
    ['b is next'],
  ],
  ['which waits for them', [job('j', first), workload('a', cron)], []],
  [
    'also a retry without pods, which delays no other',
    [job('j', first), workload('a', { ...cron, freed: 'retry' }), workload('b', queued)],
    ['b is next'],
  ],
  ['none may while the injector of a Job fails', [job('j', kept), workload('a', queued)], []],
  [
    'a Job is not tried again, but its halt ends',
    [job('j', { ...kept, wakeAt: NOW.ms }), workload('a', queued)],
    ['j is idle', 'a is next'],
  ],
  ['a failed revert is retried later', [workload('a', reverting, { failure: { ...denied, retryAt: NOW.ms + 1 } })], []],
  ['and then tried again', [workload('a', reverting, { failure: { ...denied, retryAt: NOW.ms } })], ['revert a']],
  [
    'a failed revert delays no other',
    [workload('a', reverting, { failure: { ...denied, retryAt: NOW.ms + 1 } }), workload('b', queued)],
    ['b is next'],
  ],
  ['nor does one whose injection another writer undoes', [undone, workload('b', queued)], ['b is next']],
  [
    'injections are judged and reverted while the Lumigo is inactive',
    [workload('a', reverting), workload('b', { ...rolling, wakeAt: NOW.ms }), workload('c', untested)],
    ['revert a', 'read b'],
    { under: inactive },
  ],
  ['and broken pods are evicted', [workload('a', evicting(idle))], ['evict a'], { under: disabled }],
  [
    'but none is injected then',
    [queued, next, retry, { ...blocked, wakeAt: 0 }, { ...reverted, wakeAt: 0 }].map((state, index) =>
      workload(`w${index}`, state),
    ),
    [],
    { under: disabled },
  ],
  [
    'a failed reading is retried later',
    [workload('a', { ...rolling, wakeAt: 0 }, { failure: { ...denied, retryAt: NOW.ms + 1 } })],
    [],
  ],
  [
    'a rejected one makes room for others',
    [
      workload('a', queued, { failure: { ...denied, retryAt: NOW.ms + 1 }, checkedUnder: undefined }),
      workload('b', queued),
    ],
    ['b is next'],
  ],
  [
    'one that was found under another policy is read [F1]',
    [workload('a', next, { checkedUnder: { ...policy } })],
    ['read a'],
  ],
];

describe('a rollout', () => {
  it.each(cases)('%s', (_title, there, expected, more = {}) => expect(plan(there, more).does).toEqual(expected));

  it('wants a turn while a workload is in progress or could be', () => {
    const wants = (...there: ObservedWorkload[]) => plan(there).rollout.wantsSlot;
    expect([wants(), wants(workload('a', blocked)), wants(workload('a', untested))]).toEqual([false, false, false]);
    expect([wants(workload('a', queued)), wants(workload('a', rolling))]).toEqual([true, true]);
    expect(wants(workload('a', reverted), workload('b', reverted), workload('c', queued))).toBe(false);
    expect(wants(workload('a', reverted), workload('b', reverted), workload('c', retry))).toBe(true);
    expect([wants(workload('a', first)), wants(job('j', first))]).toEqual([true, false]);
    expect(wants(job('j', first), workload('a', cron))).toBe(false);
  });

  it('is planned again by itself if the cluster halts it', () => {
    const halted = plan([workload('a', queued)], { injector: 'failing' });
    expect(halted.rollout.summary.halted).toBe('workloads of several namespaces were reverted');
    expect(halted.wakeAt).toBe(NOW.ms + 60_000);
    expect(plan([workload('a', queued)]).wakeAt).toBe(Infinity);
  });

  it('is halted after a Job whose injector fails, since no further Job is injected', () => {
    expect(plan([job('j', kept)]).rollout.summary.halted).toContain('the injector itself fails');
    expect(plan([workload('a', injectorFailed)]).rollout.summary.halted).toBeUndefined();
  });

  it("reports the injector's health to the webhook [F67]", () => {
    const report = (injector: ObservedRollout['injector'], ...there: ObservedWorkload[]) =>
      plan(there, { injector }).rollout.report?.health;
    expect(report('unknown', workload('a', rolling))).toBe('unverified');
    expect(report('unknown', job('j', first))).toBe('unverified');
    expect(report('unknown', workload('a', untested))).toBeUndefined();
    expect(report('verified', workload('a', rolling))).toBeUndefined();
    expect(report('verified', workload('a', injectorFailed))).toBe('failing');
    expect(report('failing')).toBe('failing');
  });

  it('counts no pending Job for the cluster, so that other namespaces do not wait for it', () => {
    expect(plan([job('j', first), workload('a', rolling)]).rollout.tally).toMatchObject({ trying: 1, first: 1 });
  });

  it('names workloads that it does not judge, because another writer undoes them or they are older', () => {
    const unready: WorkloadState = { kind: 'unready', wakeAt: Infinity };
    const older = workload('b', unready, { judged: 'added' });
    // With the strategy 'immediate', nothing is judged.
    const { summary, tally } = plan([undone, older, workload('c', unready)]).rollout;
    expect(summary.blocked.map(({ name, state }) => [name, state.reason])).toEqual([['a', 'Contested']]);
    expect([summary.unready, summary.underWay, tally.trying]).toEqual([[older], [], 0]);
  });

  it('does not wait for a workload whose change the API server refuses', () => {
    const { tally } = plan([
      workload('a', queued, { failure: { ...denied, retryAt: Infinity } }),
      workload('b', queued),
    ]).rollout;
    expect(tally).toMatchObject({ trying: 1 });
  });

  it('counts for the cluster what a workload shows about other namespaces', () => {
    const local: WorkloadState = { ...verified, isLocal: true };
    const tallyOf = (...there: ObservedWorkload[]) => plan(there).rollout.tally;
    expect(tallyOf(workload('a', local), workload('b', verified))).toMatchObject({ verified: 2, proven: 1 });
    // A finished Job may stay for years.
    expect(tallyOf(job('j', local))).toMatchObject({ verified: 0, proven: 0 });
    const recent = plan([workload('a', queued), workload('b', queued)], { hasRun: true });
    expect([recent.rollout.tally.ran, recent.does]).toEqual([1, ['a is next']]);
  });

  it('counts separately the reverts that this leader has seen [F65]', () => {
    const found: WorkloadState = { ...injectorFailed, isFound: true };
    const there = [found, reverted, reverting, evicting(found)].map((state, index) => workload(`w${index}`, state));
    expect(plan(there).rollout.tally).toMatchObject({ reverted: 4, injectorFailed: 2, witnessed: 2 });
  });

  it('counts workloads with the injection of another version', () => {
    const there = ['lumigo-operator.v1', 'lumigo-operator.v0.9', undefined].map((label, index) =>
      workload(`w${index}`, undefined, { label, checkedUnder: policy }),
    );
    expect(plan(there).progress).toMatchObject({ instrumented: 2, older: 1 });
  });

  it('wakes with the first of its states', () => {
    expect(plan([workload('a', rolling), workload('b', blocked)]).wakeAt).toBe(NOW.ms + 5_000);
  });
});

import { describe, expect, it } from '@jest/globals';
import { active as policy } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { Evidence } from '../rollout/evidence.ts';
import { OVERDUE_MS } from '../rollout/judge.ts';
import { idle, type WorkloadState } from '../rollout/workload-state.ts';
import type { ObservedRollout, ObservedWorkload } from './observed.ts';
import { planWorkloads } from './plan-workloads.ts';
import { observeWorkload } from './workload-store.ts';

const disabled: NamespacePolicy = { kind: 'disabled', lumigo: 'lumigo', remove: true };
const none: NamespacePolicy = { kind: 'none' };
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
const soaking: WorkloadState = { kind: 'soaking', since: NOW.ms, from: NOW.ms, ...probation };
const verified: WorkloadState = { kind: 'verified', until: NOW.ms, ...probation, wakeAt: Infinity };
const late: WorkloadState = { ...verified, until: NOW.ms + OVERDUE_MS, wakeAt: NOW.ms + OVERDUE_MS };
const untested: WorkloadState = { kind: 'untested', ...probation, wakeAt: Infinity };
const first: WorkloadState = { ...untested, first: 'awaited', wakeAt: NOW.ms + 5_000 };
const reverting: WorkloadState = { kind: 'reverting', evidence: crash, template: 'one', attempt: 1, wakeAt: 0 };
const reverted: WorkloadState = { kind: 'reverted', evidence: crash, risk, attempt: 1, wakeAt: NOW.ms + 600_000 };
const dueAgain: WorkloadState = { ...reverted, wakeAt: NOW.ms };
const injectorFailed: WorkloadState = { ...reverted, evidence: noImage };
const kept: WorkloadState = { ...injectorFailed, isKept: true };
const evicting = (then: WorkloadState): WorkloadState => ({ kind: 'evicting', since: 0, then, wakeAt: NOW.ms });

type More = Partial<ObservedRollout> & { readonly under?: NamespacePolicy };

/** The state of a workload, or its state and further facts. A name that begins with `j` is that of a Job. */
type Given = WorkloadState | undefined | readonly [state: WorkloadState | undefined, facts: Partial<ObservedWorkload>];
type There = Readonly<Record<string, Given>>;

function workload([name, given]: readonly [string, Given]): ObservedWorkload {
  const [state, facts] = Array.isArray(given) ? (given as [WorkloadState, object]) : [given as WorkloadState, {}];
  const kind = name.startsWith('j') ? workloadKinds.job : workloadKinds.deployment;
  return {
    ...observeWorkload(kind, { namespace: 'shop', name, uid: name }),
    state,
    checkedUnder: state === undefined ? undefined : policy,
    ...facts,
  };
}
const denied = { policy, count: 4, refusedSince: 1, problem: 'denied' };
const own = 'lumigo-operator.v1';
const waits = { failure: { ...denied, retryAt: NOW.ms + 1 } };
const write = { policy, at: NOW.ms - 1_000, touchedAt: NOW.ms, undoneAt: NOW.ms, repeats: 1 };
const contested = (state?: WorkloadState): Given => [state, { checkedUnder: undefined, write }];
const undone = contested();
const numbered = (states: readonly Given[]): There =>
  Object.fromEntries(states.map((each, index) => [`w${index}`, each]));

function plan(there: There, { under = policy, ...more }: More = {}) {
  const times = { soakMs: 10_000, deadlineMs: 60_000, lookMs: 20_000 };
  const settings = { ...times, largestBatch: 50, label: own };
  const workloads = Object.entries(there).map(workload);
  const rollout: ObservedRollout = { settings, injector: 'unknown', hasRun: false, hasSlot: true, ...more };
  const planned = planWorkloads({ policy: under, workloads, rollout }, NOW);
  const done = planned.changes.map(({ workload: { name }, task }) => `${task ?? 'read'} ${name}`);
  const stateChanges = planned.rollout.stateChanges.map(({ name, state: to = idle }) =>
    to.kind === 'queued' && to.isNext ? `${name} is next` : `${name} is ${to.kind}`,
  );
  return { ...planned, does: [...done, ...stateChanges] };
}

const cases: readonly [string, There, readonly string[], More?][] = [
  ['an unknown workload is read', { a: undefined }, ['read a']],
  ['the next one is chosen once all are known', { a: queued, b: undefined }, ['read b']],
  ['one is the first', { a: queued, b: queued }, ['a is next']],
  ['none is where the namespace has no turn', { a: queued }, [], { hasSlot: false }],
  ['the next one is injected', { a: next, b: queued }, ['inject a']],
  ['also without a Lumigo, where it asks for it', { a: next }, ['inject a'], { under: none }],
  ['no other goes while one rolls', { a: rolling, b: queued }, []],
  ['nor while one soaks', { a: soaking, b: queued }, []],
  ['nor while one is being reverted', { a: reverting, b: queued }, ['revert a']],
  ['nor while one is being written', { a: [next, { inFlight: { injectionStatus: undefined } }], b: queued }, []],
  [
    'after one is verified two more go, while it is read still',
    { a: late, b: queued, c: queued, d: queued },
    ['b is next', 'c is next'],
  ],
  ['a status is read when it is due', { a: { ...rolling, wakeAt: NOW.ms } }, ['read a']],
  ['a blocked one is read when it is due', { a: { ...blocked, wakeAt: NOW.ms } }, ['read a']],
  ['a blocked one delays no other', { a: blocked, b: queued }, ['b is next']],
  ['one that is being deleted delays no other', { a: [soaking, { deleting: true }], b: queued }, ['b is next']],
  ['broken pods are evicted when that is due', { a: evicting(reverted) }, ['evict a']],
  ['which delays no other workload', { a: evicting(reverted), b: queued }, ['evict a', 'b is next']],
  ['but the revert counts meanwhile', { a: evicting(injectorFailed), b: queued }, ['evict a']],
  ['after one revert the next may try', { a: reverted, b: queued }, ['b is next']],
  ['after two none may', { a: reverted, b: reverted, c: queued }, []],
  ['after a failure of the injector none may', { a: injectorFailed, b: queued }, []],
  ['unless it runs in another one', { a: injectorFailed, b: queued, v: verified }, ['b is next']],
  ['or ran there lately', { a: injectorFailed, b: queued }, ['b is next'], { hasRun: true }],
  ['none may while the cluster fails', { a: queued }, [], { injector: 'failing' }],
  [
    'a revert is tried again in its time, which ends the halt',
    { a: { ...injectorFailed, wakeAt: NOW.ms }, b: queued },
    ['a is queued', 'a is next'],
  ],
  ['a retry goes while others are reverted', { a: retry, b: injectorFailed, c: injectorFailed }, ['a is next']],
  ['also while the cluster fails', { a: retry }, ['a is next'], { injector: 'failing' }],
  ['one retry goes at a time', { a: retry, b: retry, c: injectorFailed }, ['a is next']],
  [
    'the other retries follow one that is verified in batches',
    { v: { ...late, freed: 'retry' }, a: retry, b: retry, c: retry },
    ['a is next', 'b is next'],
  ],
  [
    'but not during a halt',
    { v: { ...late, freed: 'retry' }, a: retry, b: retry, c: injectorFailed, d: injectorFailed },
    ['a is next'],
  ],
  ['nor long after it', { v: { ...verified, freed: 'retry' }, a: retry, b: retry }, ['a is next']],
  ['none while another one rolls', { a: retry, b: rolling, c: injectorFailed }, []],
  [
    'a halt ends with one try, and not with a batch',
    { ...numbered(Array<Given>(9).fill(verified)), a: dueAgain, b: dueAgain, c: queued },
    ['a is queued', 'b is queued', 'a is next'],
  ],
  ['a workload without pods goes last [F67]', { c: cron, s: queued }, ['s is next']],
  ['it waits while others show how the injector fares [F67]', { c: unverified }, []],
  [
    'it is queued once the injector runs [F67]',
    { c: unverified },
    ['c is queued', 'c is next'],
    { injector: 'verified' },
  ],
  ['it goes first where there is nothing else [F67]', { c: cron, d: cron }, ['c is next'], { injector: 'untried' }],
  ['the others follow the first of them [F67]', { b: untested, c: cron, d: cron }, ['c is next', 'd is next']],
  ['but not before it was read once [F67]', { b: first, c: cron }, []],
  ['a new Job is read, which delays no other', { j: undefined, a: queued }, ['read j', 'a is next']],
  ['the pods of a Job delay only what has no pods', { j: first, a: cron, b: queued }, ['b is next']],
  ['which waits for them', { j: first, a: cron }, []],
  [
    'also a retry without pods, which delays no other',
    { j: first, a: { ...cron, freed: 'retry' }, b: queued },
    ['b is next'],
  ],
  ['none may while the injector of a Job fails', { j: kept, a: queued }, []],
  [
    'a Job is not tried again, but its halt ends',
    { j: { ...kept, wakeAt: NOW.ms }, a: queued },
    ['j is idle', 'a is next'],
  ],
  ['a failed revert is retried later', { a: [reverting, waits] }, []],
  ['and then tried again', { a: [reverting, { failure: { ...denied, retryAt: NOW.ms } }] }, ['revert a']],
  ['a refused revert delays no other', { a: [reverting, waits], b: queued }, ['b is next']],
  [
    'one without an answer does',
    { a: [reverting, { failure: { ...denied, refusedSince: undefined, retryAt: NOW.ms + 1 } }], b: queued },
    [],
  ],
  ['one whose annotation another writer removes is reverted', { a: contested(reverting) }, ['revert a']],
  [
    'one whose annotation another writer removes is judged',
    { a: contested({ ...rolling, wakeAt: NOW.ms }), b: queued },
    ['read a'],
  ],
  ['one whose injection another writer undoes delays no other', { a: undone, b: queued }, ['b is next']],
  [
    'injections are judged and reverted while the Lumigo is inactive',
    { a: reverting, b: { ...rolling, wakeAt: NOW.ms }, c: untested },
    ['revert a', 'read b'],
    { under: inactive },
  ],
  ['and broken pods are evicted', { a: evicting(idle) }, ['evict a'], { under: disabled }],
  [
    'but none is injected then',
    numbered([queued, next, retry, { ...blocked, wakeAt: 0 }, { ...reverted, wakeAt: 0 }]),
    [],
    { under: disabled },
  ],
  ['a failed reading is retried later', { a: [{ ...rolling, wakeAt: 0 }, waits] }, []],
  [
    'a rejected one makes room for others',
    { a: [queued, { ...waits, checkedUnder: undefined }], b: queued },
    ['b is next'],
  ],
  ['one that was found under another policy is read [F1]', { a: [next, { checkedUnder: { ...policy } }] }, ['read a']],
];

describe('a rollout', () => {
  it.each(cases)('%s', (_title, there, expected, more = {}) => expect(plan(there, more).does).toEqual(expected));

  it('wants a turn while a workload is in progress or could be', () => {
    const wants = (there: There) => plan(there).rollout.wantsSlot;
    expect([wants({}), wants({ a: blocked }), wants({ a: untested })]).toEqual([false, false, false]);
    expect([wants({ a: queued }), wants({ a: rolling })]).toEqual([true, true]);
    expect(wants({ a: reverted, b: reverted, c: queued })).toBe(false);
    expect(wants({ a: reverted, b: reverted, c: retry })).toBe(true);
    expect([wants({ a: first }), wants({ j: first }), wants({ j: first, a: cron })]).toEqual([true, false, false]);
  });

  it('is planned again by itself if the cluster halts it', () => {
    const halted = plan({ a: queued }, { injector: 'failing' });
    expect(halted.rollout.summary.halted).toBe('workloads of several namespaces were reverted');
    expect(halted.wakeAt).toBe(NOW.ms + 60_000);
    expect([plan({ a: queued }).wakeAt, plan({ a: verified }).wakeAt]).toEqual([Infinity, Infinity]);
    const cluster = plan({ a: unverified, b: blocked }, { injector: 'failing' }).rollout.summary.halted;
    expect([cluster, plan({ b: blocked }, { injector: 'failing' }).rollout.summary.halted]).toEqual([
      'workloads of several namespaces were reverted',
      undefined,
    ]);
  });

  it('is halted after a Job whose injector fails, since no further Job is injected', () => {
    expect(plan({ j: kept }).rollout.summary.halted).toContain('the injector itself fails');
    expect(plan({ a: injectorFailed }).rollout.summary.halted).toBeUndefined();
  });

  it("reports the injector's health to the webhook [F67]", () => {
    const report = (injector: ObservedRollout['injector'], there: There) =>
      plan(there, { injector }).rollout.report?.health;
    const unknown = [{ a: rolling }, { j: first }, { a: untested }].map((there) => report('unknown', there));
    expect(unknown).toEqual(['unverified', 'unverified', undefined]);
    expect([{ a: rolling }, { a: injectorFailed }].map((there) => report('verified', there))).toEqual([
      undefined,
      'failing',
    ]);
    expect(report('failing', {})).toBe('failing');
  });

  it.each<[string, object, There, boolean]>([
    ['the API server refuses an injection', {}, {}, true],
    ['it refuses the unchanged workload as well', { refusesInjection: false }, {}, false],
    ['it gave no answer', { refusedSince: undefined, refusesInjection: undefined }, {}, false],
    ['it refused before the namespace got other settings', { policy: { ...policy } }, {}, false],
    ['it accepts another injection', {}, { b: [untested, { label: own }] }, false],
  ])('knows if the webhook must inject nothing new: %s', (_title, more, others, expected) => {
    const problem = 'admission webhook "a" denied the request: no';
    const failure = { ...denied, problem, refusesInjection: true, retryAt: Infinity, ...more };
    const { report, summary } = plan({ a: [queued, { failure }], ...others }, { injector: 'untried' }).rollout;
    const why = 'the API server refuses the injection of Deployment/a';
    expect(report?.health === 'failing').toBe(expected);
    expect([report?.why === why, summary.halted]).toEqual([expected, undefined]);
  });

  it('names workloads that it does not judge, because another writer undoes them or they are older', () => {
    const unready: WorkloadState = { kind: 'unready', isPaused: false, wakeAt: Infinity };
    const paused: WorkloadState = { ...unready, isPaused: true };
    // With the strategy 'immediate', nothing is judged.
    const { summary, tally } = plan({
      a: undone,
      c: unready,
      b: [unready, { judged: 'added' }],
      p: [paused, { judged: 'added' }],
      f: [undefined, waits],
      w: { ...blocked, reason: 'WaitsForChange' },
    }).rollout;
    expect(summary.blocked.map(({ name, state }) => [name, state.reason])).toEqual([['a', 'Contested']]);
    expect(summary.left).toBe(1);
    expect([summary.unready.map(({ name }) => name), summary.underWay, tally.trying]).toEqual([['b'], [], 0]);
  });

  it('names a revert also while the Lumigo is inactive, until it would be tried again', () => {
    const names = (state: WorkloadState) =>
      plan({ a: state }, { under: inactive }).rollout.summary.reverted.map(({ name }) => name);
    expect([names(reverted), names({ ...reverted, wakeAt: NOW.ms })]).toEqual([['a'], []]);
  });

  it('does not wait for a workload whose change the API server refuses', () => {
    const refused: Given = [queued, { failure: { ...denied, retryAt: Infinity } }];
    expect(plan({ a: refused, b: queued }).rollout.tally).toMatchObject({ trying: 1 });
  });

  it('counts for the cluster what a workload shows about other namespaces', () => {
    const local: WorkloadState = { ...verified, isLocal: true };
    const tallyOf = (there: There) => plan(there).rollout.tally;
    expect(tallyOf({ a: local, b: verified, c: verified })).toMatchObject({ verified: 3, proven: 2 });
    const older: WorkloadState = { ...untested, isCurrent: false };
    expect(tallyOf({ a: verified, b: older, c: untested })).toMatchObject({ untested: 1 });
    // A finished Job may stay for years.
    expect(tallyOf({ j: local })).toMatchObject({ verified: 0, proven: 0 });
    // Other namespaces do not wait for a pending Job.
    expect(tallyOf({ j: first, a: rolling })).toMatchObject({ trying: 1, first: 1, late: 0 });
    expect(tallyOf({ j: { ...first, first: 'late' } as WorkloadState })).toMatchObject({
      trying: 0,
      first: 0,
      late: 1,
    });
    const recent = plan({ a: queued, b: queued }, { hasRun: true });
    expect([recent.rollout.tally.ran, recent.does]).toEqual([1, ['a is next']]);
  });

  it('counts separately the reverts that this leader has seen [F65]', () => {
    const found: WorkloadState = { ...injectorFailed, isFound: true };
    const { tally } = plan(numbered([found, reverted, reverting, evicting(found)])).rollout;
    expect(tally).toMatchObject({ reverted: 4, injectorFailed: 2, witnessed: 2 });
  });

  it('counts workloads with the injection of another version', () => {
    const labels = [own, own, 'lumigo-operator.v0.9', undefined];
    const there = labels.map((label): Given => [undefined, { label, checkedUnder: policy }]);
    expect(plan(numbered(there)).progress).toMatchObject({ instrumented: 3, older: 1 });
  });

  it('counts what workloads wait for', () => {
    const there: There = { a: undone, b: [undefined, { checkedBefore: policy }], c: [undefined, waits], d: undefined };
    expect(plan(there).progress).toMatchObject({ contested: 1, rechecked: 1, failed: 1, pending: 1 });
    expect(plan(there).progress.firstFailed).toMatchObject({ name: 'c' });
    expect(plan({ d: undefined }).progress.firstFailed).toBeUndefined();
  });

  it('wakes with the first of its states, or when a change may be repeated', () => {
    expect(plan({ a: rolling, b: blocked }).wakeAt).toBe(NOW.ms + 5_000);
    expect(plan({ a: [undefined, waits] }).wakeAt).toBe(NOW.ms + 1);
    expect(plan({ a: undone }).wakeAt).toBe(NOW.ms + 60_000);
    const refusedOf = (under: NamespacePolicy) => ({
      checkedUnder: undefined,
      failure: { ...waits.failure, policy: under },
    });
    expect(plan({ a: [reverting, { ...refusedOf(policy), write }] }).wakeAt).toBe(NOW.ms + 1);
    const due = { ...reverting, wakeAt: NOW.ms };
    expect(plan({ a: [due, refusedOf(inactive)] }, { under: inactive }).wakeAt).toBe(NOW.ms + 1);
    expect(plan({ a: [due, { failure: { ...denied, retryAt: NOW.ms } }] }).wakeAt).toBe(Infinity);
  });
});

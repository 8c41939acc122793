import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Completion } from './completion.ts';
import type { Evidence } from './evidence.ts';
import { blockedBy, getTried, transition } from './transition.ts';
import type { InjectorHealth } from './injector-health.ts';
import { idle, type Action, type Observation, type WorkloadState } from './workload-state.ts';

const settings = { soakMs: 10_000, deadlineMs: 300_000, lookMs: 20_000 };
const risk = { rank: 0, pods: 2 } as const;
const minute = 60_000;
const OVERDUE_MS = 2 * minute;
const hour = 3_600_000;
const crash: Evidence = { cause: 'Crash', message: 'it crashed' };
const runs: Evidence = { ...crash, mayEnd: true };
const noImage: Evidence = { cause: 'InjectorImage', message: 'there is no image' };

const progressing = (available: number, more: Partial<Completion & { kind: 'progressing' }> = {}): Completion => ({
  kind: 'progressing',
  available,
  wanted: 2,
  isReplacing: true,
  ...more,
});
const complete = { kind: 'complete', available: 2 } as const;
const reading = (completion: Completion, injector: InjectorHealth = 'unknown', template = 'one') => ({
  completion,
  template,
  isCurrent: true,
  risk,
  injector,
});
const due = (completion: Completion, injector?: InjectorHealth, template?: string): Observation => ({
  kind: 'due',
  ...reading(completion, injector, template),
});
const again = (seen: Observation) => ({ ...seen, isRetry: true }) as Observation;
const injected = (
  completion: Completion = progressing(0),
  more: { attempt?: number; injector?: InjectorHealth } = {},
) => ({ kind: 'injected', attempt: more.attempt ?? 0, ...reading(completion, more.injector) }) as const;
const status = (completion: Completion, unchangedSince = 0, template = 'one'): Observation => ({
  kind: 'status',
  unchangedSince,
  ...reading(completion, 'unknown', template),
});
const pods = (evidence?: Evidence, ran = false, isAny = true): Observation => ({ kind: 'pods', evidence, ran, isAny });
const removed = (mayHang = false): Observation => ({ kind: 'removed', risk, mayHang });
const evicted = (isAnyLeft: boolean): Observation => ({ kind: 'evicted', isAnyLeft });
const before = (agoMs: number, attempt = 1, mayHang = false): Observation => ({
  kind: 'reverted-before',
  evidence: crash,
  risk,
  attempt,
  agoMs,
  mayHang,
});
const fact = (injector: InjectorHealth): Observation => ({ kind: 'time', injector });
const time = fact('unknown');
const noneYet = pods(undefined, false, false);
const touched: Observation = { kind: 'touched' };

const noPods: Completion = { kind: 'no-pods' };
const empty: Completion = { kind: 'no-pods', isEmpty: true };
const paused: Completion = { kind: 'paused' };
const aborted = status(progressing(0, { isAborted: true }));
const queued: WorkloadState = { kind: 'queued', risk, isNext: false, attempt: 0 };
const waited: WorkloadState = { ...queued, freed: 'waited' };
const retry: WorkloadState = { ...queued, freed: 'retry' };
const next: WorkloadState = { ...queued, isNext: true };
const blocked: WorkloadState = { kind: 'blocked', reason: 'Paused', risk, attempt: 0, wakeAt: 5 * minute };
const rollingOut: WorkloadState = { ...blocked, reason: 'RollingOut' };
const forUser: WorkloadState = { ...blocked, reason: 'WaitsForChange', wakeAt: Infinity };
const unverified: WorkloadState = { ...blocked, reason: 'InjectorUnverified' };
const probation = { progress: { available: 0, at: 0 }, template: 'one', isCurrent: true, attempt: 0, wakeAt: 10_000 };
const rolling: WorkloadState = { kind: 'rolling', ...probation };
const own = { isOwn: true } as const;
const looked: WorkloadState = { ...rolling, look: { evidence: crash, at: 20_000 } };
const soaking: WorkloadState = { kind: 'soaking', since: 0, from: 0, ...probation, progress: { available: 2, at: 0 } };
const verified: WorkloadState = { kind: 'verified', until: OVERDUE_MS, ...probation };
const over: WorkloadState = { ...verified, wakeAt: Infinity };
const local = { ...over, until: 1_000, isLocal: true };
const lost: WorkloadState = { ...verified, look: { evidence: crash, at: 30_000 } };
const untested: WorkloadState = { kind: 'untested', ...probation, wakeAt: Infinity };
const doubted: WorkloadState = { ...untested, look: { evidence: crash, at: 0 } };
const first: WorkloadState = { ...untested, first: 'awaited', wakeAt: 10_000 };
const began: WorkloadState = { ...first, progress: { available: 0, at: 250_000 } };
const behind: WorkloadState = { ...first, first: 'late', wakeAt: 30_000 };
const noTurn = { kind: 'untested', wakeAt: Infinity };
const unready: WorkloadState = { kind: 'unready', isPaused: false, wakeAt: Infinity };
const reverting = { kind: 'reverting', evidence: crash, template: 'one', attempt: 1, wakeAt: 0 } as const;
const secondly: WorkloadState = { ...reverting, attempt: 2 };
const revertedFor = (cause: string) => ({ kind: 'reverting', attempt: 1, evidence: { cause } });
const reverted = { kind: 'reverted', evidence: crash, risk, attempt: 1, wakeAt: 10 * minute } as const;
const missing = { ...reverted, evidence: noImage };
const notStarted: WorkloadState = { ...reverted, evidence: { cause: 'InjectorFailed', message: 'it exits' } };
const proven: Observation = { kind: 'proven' };
const found: WorkloadState = { ...reverted, isFound: true };
const kept: WorkloadState = { ...reverted, risk: { rank: 4, pods: 1 }, isKept: true };
const evicting = (then: WorkloadState, since: number) => ({ kind: 'evicting', since, then, wakeAt: since }) as const;
const hanging = evicting(reverted, 5_000);

const waits = { ...due(complete), waits: 'WaitsForChange' } as Observation;
const unhealthy = due(progressing(1, { isReplacing: false }));
const still = status(progressing(0));
const changed = status(progressing(0), 0, 'two');
const refused = status(progressing(0, { refused: 'quota' }));
const wake = (state: WorkloadState, wakeAt: number) => ({ ...state, wakeAt }) as WorkloadState;
const look = (evidence: Evidence, at: number) => ({ look: { evidence, at } });
const progress = (available: number, at: number) => ({ progress: { available, at } });
const anew = (at: number) => ({ kind: 'rolling', template: 'two', ...progress(0, at) });
const lookedAt = (evidence: Evidence, at: number) => ({ ...rolling, ...look(evidence, at), wakeAt: at + 20_000 });
const soakingSince = (since: number, from = since) => ({ ...soaking, since, from, wakeAt: since + 10_000 });
const verifiedAt = (at: number) => ({ ...verified, until: at + OVERDUE_MS, wakeAt: at + OVERDUE_MS });
const rolls = (available: number, at: number) => ({ ...rolling, ...progress(available, at), wakeAt: at + 20_000 });

/** Times are in milliseconds. */
type Row = readonly [title: string, from: WorkloadState, seen: Observation, at: number, to: object, action?: Action];

const rows: readonly Row[] = [
  ['a healthy workload is queued', idle, due(complete), 0, queued],
  ['one that runs and is paused is blocked', idle, due({ ...complete, isPaused: true }), 0, blocked],
  ['one whose strategy waits is blocked', idle, due({ ...paused, isRollingOut: true }), 0, rollingOut],
  ['a paused one is blocked', idle, due(paused), 0, { ...blocked, reason: 'Paused' }],
  ['one in the middle of a rollout is blocked', idle, due(progressing(1)), 0, rollingOut],
  ['an unhealthy one is blocked', idle, unhealthy, 0, { ...blocked, reason: 'Unhealthy' }],
  ['one whose pods cannot judge waits for a verified injector [F67]', idle, due(noPods), 0, unverified],
  ['one without pods waits while the injector fails [F67]', idle, due(noPods, 'failing'), 0, unverified],
  ['one without pods goes if no other can show how it fares [F67]', idle, due(noPods, 'untried'), 0, queued],
  ['others follow one that was tried and shows nothing [F67]', idle, due(noPods, 'tried'), 0, queued],
  ['a waiting one is queued once the injector is verified [F67]', unverified, fact('verified'), 0, queued],
  ['a waiting one waits on while the injector is unknown [F67]', unverified, fact('unknown'), 0, unverified],
  ['a waiting one waits at most five minutes for others [F65]', unverified, time, 5 * minute, waited],
  ['one that waited five minutes is not blocked again', waited, due(noPods), 5 * minute, waited],
  ['one that waited five minutes is blocked if the injector fails', waited, due(noPods, 'failing'), 0, unverified],
  ['a paused one does not care about the injector', blocked, fact('verified'), 0, blocked],
  ['one that waits for its user is not read again', idle, waits, 0, forUser],
  ['one that may go now keeps its turn', next, due(complete), 0, next],
  ['the planner lets one go', queued, { kind: 'next' }, 0, next],
  ['one that cannot be written makes room', next, { kind: 'failed' }, 0, queued],
  ['one that needs no change after all leaves the queue', next, { kind: 'clean' }, 0, idle],
  ['one that has the injection already is verified', next, status(complete), 0, { kind: 'verified' }],
  ['a blocked one that changes is read soon', blocked, touched, 1_000, wake(blocked, 6_000)],
  ['a blocked one is read again in time', blocked, time, 5 * minute, {}, 'read'],
  ['an injected one rolls', next, injected(), 0, rolling],
  ['a new leader finds one that runs', idle, injected(complete), 0, wake(verified, OVERDUE_MS)],
  ['the first one without pods is read once by itself [F67]', next, injected(noPods), 0, first],
  ['the first one without replicas is not read', next, injected(empty), 0, untested],
  ['the first one without pods is read in time [F67]', first, time, 10_000, first, 'read'],
  ['the pods of the first one are looked at', began, status(noPods), 260_000, wake(began, 280_000), 'look-at-pods'],
  ['pods of the first one that show nothing are read again', wake(first, 30_000), pods(), 10_000, wake(first, 30_000)],
  ['the first one is not read after the deadline', first, status(noPods), 5 * minute, noTurn, 'look-at-pods'],
  ['a first one without pods is read on, and delays no other', wake(first, 30_000), noneYet, 10_000, behind],
  ['one that delays no other is read until the deadline', behind, status(noPods), 5 * minute, noTurn, 'look-at-pods'],
  ['a failure of one that delays no other counts', behind, pods(crash), 30_000, look(crash, 30_000)],
  ['one without pods is not read if the injector runs', next, injected(noPods, { injector: 'verified' }), 0, untested],
  ['one without pods is not read if one was tried [F67]', next, injected(noPods, { injector: 'tried' }), 0, untested],
  ['one that its user has paused is left untested', next, injected(paused), 0, untested],
  ['an untested one that changes is read', untested, touched, 1_000, wake(untested, 11_000)],
  ['changes do not delay the read of the first one', first, touched, 5_000, first],
  ['the pods of an untested one are looked at', untested, status(noPods), 0, wake(untested, 20_000), 'look-at-pods'],
  ['a pod that got past the injector verifies it, for its namespace', untested, pods(undefined, true), 1_000, local],
  ['two looks revert an untested one [F67]', doubted, pods(crash), 20_000, {}, 'revert'],
  ['an untested one that has replicas rolls [F67]', untested, still, 5_000, rolls(0, 5_000)],
  ['pods of others verify none without replicas', untested, status(empty), 1_000, untested],
  ['a later run whose pods show nothing yet is read again', wake(untested, 30_000), pods(), 9, wake(untested, 30_000)],
  ['one without a run is not read again', wake(untested, 30_000), noneYet, 9, untested],
  ['a pod that ends verifies none without replicas', lookedAt(crash, 0), status(empty), 9, noTurn],
  ['an old one that runs is verified', idle, status(complete), 0, { kind: 'verified', until: 0, wakeAt: Infinity }],
  ['an old one that waits for its first pods is untested', idle, status(noPods), 0, untested],
  ['one that does not run is not judged [F63]', idle, still, 0, unready],
  ['a paused one with an old injection is not judged', idle, status(paused), 0, { ...unready, isPaused: true }],
  ['one without replicas is not judged for an old injection', idle, status(empty), 0, { ...unready, isPaused: true }],
  ['one that has replicas again is not judged for it', { ...unready, isPaused: true }, still, 0, unready],
  ['one that is not judged is read after a change', unready, touched, 1_000, wake(unready, 6_000)],
  ['one that is not judged is read when it is time', wake(unready, 6_000), time, 6_000, {}, 'read'],
  ['one that does not run is not judged later', wake(unready, 6_000), status(progressing(0)), hour, unready],
  ['an old one is verified once it runs', unready, status(complete), 6_000, { kind: 'verified', until: 6_000 }],
  ['a revert is known from its annotation', idle, before(4 * minute), 0, wake(found, 6 * minute)],
  ['a time in the future puts nothing off [F65]', idle, before(-9 * hour), 0, found],
  ['a forged age brings only its own retry forward [F65]', idle, before(9 * hour), 0, wake(found, 0)],
  ['what is queued again stays queued', { ...queued, attempt: 1 }, before(0), 0, { ...queued, attempt: 1 }],
  ['a further change waits until the injection is judged', rolling, due(complete), 0, rolling],
  ['also while one soaks', soaking, due(complete), 0, soaking],
  ['also while the first one is awaited', first, due(noPods), 0, first],
  ['also while one is being reverted', reverting, due(complete), 0, reverting],
  ['a verified one is queued for a further change', verified, due(complete), 0, queued],
  ['an untested one is queued for a further change', untested, due(complete), 0, queued],
  ['one between two looks is not queued', doubted, due(complete), 0, doubted],
  ['another pod template is judged anew', looked, status(complete, 0, 'two'), 30_000, anew(30_000)],
  [
    "a verified one's new template is its user's own",
    verified,
    changed,
    30_000,
    { ...over, template: 'two', until: 30_000 },
  ],
  ['a workload is read when its status has rested', rolling, time, 10_000, {}, 'read'],
  ['no workload is read before its status has rested', rolling, time, 9_999, rolling],
  ['a change puts the read off', rolls(0, 90_000) as WorkloadState, touched, 239_999, { wakeAt: 249_999 }],
  ['a change delays no read for much longer', wake(rolling, 151_000), touched, 150_000, wake(rolling, 151_000)],
  ['a status complete for the soak verifies', rolling, status(complete, 2_000), 12_000, verifiedAt(12_000)],
  ['a younger one soaks', rolling, status(complete, 9_000), 12_000, { ...soakingSince(9_000), ...progress(2, 9_000) }],
  [
    'one complete before counts from the write on',
    { ...rolling, ...progress(0, 9_000) },
    status(complete, 1),
    12_000,
    { kind: 'soaking', since: 9_000 },
  ],
  ['the soak ends', soaking, status(complete), 10_000, { kind: 'verified' }],
  ['a change during the soak is read soon', soaking, touched, 1_000, wake(soaking, 6_000)],
  ['a change delays no end of a soak', soaking, touched, 9_000, soaking],
  ['a soak begins again after a change', soaking, status(complete, 4_000), 10_000, soakingSince(4_000, 0)],
  ['a soak lasts from its last change on', soakingSince(4_000, 0), status(complete), 13_999, soakingSince(4_000, 0)],
  ['a soak with a further pod is a new one', soaking, status({ ...complete, available: 3 }, 9), 12, { from: 9 }],
  ['a soak after no pods is progress', { ...untested, ...progress(2, 0) }, status(complete, 9), 12, progress(2, 9)],
  ['no soak begins again after the deadline', soaking, status(complete, 299_000), 300_000, { kind: 'verified' }],
  ['one does before it', { ...soaking, ...progress(2, 9_000) }, status(complete, 308_000), 308_999, { since: 308_000 }],
  ['a pod that becomes available is progress', looked, status(progressing(1)), 25_000, rolls(1, 25_000)],
  ['a pause stops the clock, and delays no other', rolling, status(paused), 2 * hour, untested],
  ['the clock begins anew after a pause', untested, still, 3 * hour, { kind: 'rolling', ...progress(0, 3 * hour) }],
  ['a rollout that makes no progress is looked at', rolling, still, 10_000, {}, 'look-at-pods'],
  ['a rollout is not looked at before its status has rested', rolling, still, 9_000, wake(rolling, 29_000)],
  ['no further pod for the deadline reverts', rolling, still, 300_000, revertedFor('NotReady'), 'revert'],
  ['the last look names the cause of a revert', looked, still, 300_000, wake(reverting, 300_000), 'revert'],
  ['refused pods are the cause of a revert', rolling, refused, 300_000, revertedFor('PodsRefused'), 'revert'],
  [
    'an abort of the injection alone is reverted',
    { ...rolling, ...own },
    aborted,
    300_000,
    revertedFor('NotReady'),
    'revert',
  ],
  ['any other abort stands, and delays no other', rolling, aborted, 300_000, untested],
  ['a template that its user changed is not own', { ...rolling, ...own }, changed, 30_000, { isOwn: undefined }],
  [
    'a verified one that its user changed is not own',
    { ...verified, ...own },
    changed,
    30_000,
    { isOwn: undefined, until: 30_000 },
  ],
  ['an aborted one rolls when its user retries it', untested, still, 5_000, rolls(0, 5_000)],
  ['a paused one forgets its look, which would delay others', looked, status(paused), 30_000, untested],
  ['a verified one stays so without replicas', verified, status(noPods), 1_000, { ...verified, wakeAt: OVERDUE_MS }],
  ['a verified one stays so during a pause', verified, status(paused), 1_000, { ...verified, wakeAt: OVERDUE_MS }],
  ['one whose pods cannot be listed is read again', doubted, status(noPods), 0, wake(doubted, 20_000), 'look-at-pods'],
  ['one that loses its pods is untested', rolling, status(noPods), 1_000, wake(untested, 21_000), 'look-at-pods'],
  [
    'a soak that is cut short is no progress, and stops the clock',
    { ...soaking, ...progress(2, -7_000), ...look(crash, -1) },
    status(progressing(1)),
    5_000,
    { ...rolling, ...progress(2, -2_000), ...look(crash, -1), wakeAt: 25_000 },
  ],
  // Evidence counts only if two checks see it.
  ['one look convicts nothing [F64]', rolling, pods(crash), 20_000, wake(looked, 40_000)],
  ['a second look that is too early convicts nothing [F64]', looked, pods(crash), 39_999, wake(looked, 40_000)],
  ['a second look that agrees reverts', looked, pods(crash), 40_000, wake(reverting, 40_000), 'revert'],
  ['another cause begins anew', looked, pods(noImage), 40_000, lookedAt(noImage, 40_000)],
  ['a pod that did not get that far shows nothing', untested, pods(), 1_000, untested],
  ['a pod that ran verifies no workload that rolls', rolling, pods(undefined, true), 20_000, rolling],
  ['one that is being reverted is reverted', reverting, status(complete), 0, reverting],
  ['one that was reverted stays reverted', reverted, status(complete), 0, reverted],
  ['a look that shows nothing clears the first [F64]', looked, pods(), 40_000, rolling],
  ['refused pods are no evidence before the deadline', rolling, refused, 299_000, { kind: 'rolling' }, 'look-at-pods'],
  ['a program that runs again does not clear the first look', looked, pods(runs), 40_000, wake(looked, 60_000)],
  ['a program that runs again has until the deadline', doubted, pods(runs), 300_000, { kind: 'reverting' }, 'revert'],
  ['a verified one that changes is read soon', verifiedAt(0), touched, 30_000, wake(verified, 35_000)],
  ['one that lost all pods is looked at', verified, still, 30_000, {}, 'look-at-pods'],
  ['one that lost one pod is not looked at', verified, status(progressing(1)), 30_000, wake(verified, 50_000)],
  ['two looks revert a verified one', lost, pods(crash), 50_000, wake(reverting, 50_000), 'revert'],
  ['a verified one is read again in time', verified, time, OVERDUE_MS - 1, {}, 'read'],
  ['a verified one is read for two minutes', verified, time, OVERDUE_MS, over],
  ['a verified one is not read after two minutes', over, touched, OVERDUE_MS, over],
  ['one that was verified two minutes ago is not looked at', over, still, OVERDUE_MS, over],
  ['a revert is asked for until it is done', reverting, time, 0, {}, 'revert'],
  [
    'another template is judged before the revert is written',
    secondly,
    changed,
    5_000,
    { ...anew(5_000), attempt: 1, wakeAt: 15_000 },
  ],
  [
    'another template that is due for a change is judged as well',
    reverting,
    due(progressing(0), 'unknown', 'two'),
    0,
    { ...rolling, template: 'two' },
  ],
  ['a StatefulSet whose controller waits for a broken pod is not done yet', reverting, removed(true), 0, hanging],
  ['a removal whose answer was lost is written', reverting, before(0), 0, reverted],
  ['a StatefulSet hangs also if the answer was lost', reverting, before(0, 1, true), 0, hanging],
  ['a revert that is written is not written again', hanging, before(0), 4_000, hanging],
  ['broken pods are evicted', hanging, time, 5_000, {}, 'evict'],
  ['evictions last for half an hour', hanging, evicted(true), 30 * minute + 5_000, wake(hanging, 30 * minute + 15_000)],
  ['evictions end if no broken pod is left', hanging, evicted(false), 5_000, reverted],
  ['evictions end after half an hour', hanging, evicted(true), 30 * minute + 5_001, reverted],
  ['a new leader evicts also', idle, before(minute, 1, true), 0, evicting(wake(found, 9 * minute), 0)],
  ['a forged annotation evicts no further pods', found, before(0, 1, true), 0, found],
  ['the evictions end also if the revert is forgotten', hanging, { kind: 'clean' }, 0, { ...hanging, then: idle }],
  ['a changed program is queued after evictions', hanging, again(due(complete)), 1, { ...hanging, then: queued }],
  ['a status changes nothing about evictions', hanging, status(complete), 1, hanging],
  ['a reverted one is tried again after ten minutes', reverting, removed(), 0, reverted],
  ['the second retry is after an hour', secondly, removed(), 0, { ...reverted, attempt: 2, wakeAt: hour }],
  ['a Job keeps the injection, which counts as long', reverting, { kind: 'kept' }, 0, kept],
  ['a kept Job is not tried again', kept, time, 10 * minute, idle],
  ['only a failing one is kept', untested, { kind: 'kept' }, 0, untested],
  ['a late retry is daily', { ...reverting, attempt: 9 }, removed(), 0, { ...reverted, attempt: 9, wakeAt: 24 * hour }],
  ['a reverted one is not tried before its time', reverted, time, 10 * minute - 1, reverted],
  ['a reverted one is queued at its time', reverted, time, 10 * minute, { ...retry, attempt: 1 }],
  ['a reverted one is due at its time', reverted, due(complete), 10 * minute, retry],
  ['a changed program is tried at once', reverted, again(due(complete)), 1, retry],
  ['the same program is not tried if another writer removes the record', reverted, due(complete), 1, reverted],
  ['a program that rolls out is a retry', reverted, again(due(progressing(1))), 0, { ...rollingOut, freed: 'retry' }],
  ['a blocked retry stays a retry', { ...blocked, freed: 'retry' }, due(complete), 1, retry],
  ['a new leader knows a retry by its annotation', idle, again(due(complete)), 0, retry],
  ['the retry of a CronJob does not wait for another workload', reverted, again(due(noPods, 'failing')), 1, retry],
  ['a retry rolls', { ...next, freed: 'retry' }, injected(), 0, { ...rolling, freed: 'retry' }],
  ['a retry can pass', { ...rolling, freed: 'retry' }, status(complete), 10_000, { kind: 'verified', freed: 'retry' }],
  [
    'a verified retry is no retry any more',
    { ...verified, freed: 'retry' },
    due(complete),
    10_000,
    { ...queued, freed: undefined },
  ],
  ['an injector that runs again frees a reverted one', missing, proven, 1, { ...queued, attempt: 1, freed: undefined }],
  ['an injector that starts again frees one that it failed', notStarted, proven, 1, { ...queued, attempt: 1 }],
  ['a proof frees one with evictions', evicting(missing, 0), proven, 1, evicting({ ...queued, attempt: 1 }, 0)],
  ['an injector that runs again frees no failed program', reverted, proven, 1, reverted],
  ['an injector that runs again ends the revert of a Job', { ...kept, evidence: noImage }, proven, 1, idle],
  ['a rollout counts former attempts', next, injected(progressing(0), { attempt: 1 }), 0, { ...rolling, attempt: 1 }],
  ['a removal for another reason ends a rollout', rolling, removed(), 0, idle],
  ['after a removal, broken pods keep their deadline', rolling, removed(true), 9, evicting(idle, 5 * minute)],
  ['pods that ran are not evicted for a removal', verified, removed(true), 9, idle],
  ['a removal by others keeps the deadline', rolling, { kind: 'clean', mayHang: true }, 9, evicting(idle, 5 * minute)],
  ['a removal during a revert evicts soon', reverting, { kind: 'clean', mayHang: true }, 0, evicting(idle, 5_000)],
  ['pods of another kind are not evicted', rolling, { kind: 'clean' }, 9, idle],
];

describe('the transition of a workload', () => {
  it.each(rows)('%s', (...[, from, seen, at, to, action]) => {
    const { state, ...rest } = transition(from, seen, at, settings);
    expect(state).toMatchObject(to);
    expect(rest.action).toBe(action);
  });
});

it('a soak of a day delays no look, and so no revert by two of them', () => {
  const pace = { ...settings, soakMs: 24 * hour };
  const at = (now: number, from: WorkloadState, seen: Observation) => transition(from, seen, now, pace);
  const { state } = at(0, next, injected());
  expect([state, at(1_000, state, touched).state]).toMatchObject([{ wakeAt: 20_000 }, { wakeAt: 21_000 }]);
  expect(at(20_000, state, still).action).toBe('look-at-pods');
  expect(at(0, untested, touched).state).toMatchObject({ wakeAt: 20_000 });
});

it('a long soak that began again stops the clock for all of its time', () => {
  let state: WorkloadState = rolling;
  for (const [at, changedAt, available] of [
    [25, 5, 2],
    [295, 290, 2],
    [315, 310, 1],
    [335, 310, 1],
  ] as const) {
    const seen = status(available === 2 ? complete : progressing(available), 1_000 * changedAt);
    ({ state } = transition(state, seen, 1_000 * at, { ...settings, soakMs: 10 * minute }));
  }
  expect(state).toMatchObject({ kind: 'rolling', progress: { at: 315_000 } });
});

it('the changer lets a workload go that has waited, though another tenant still shows nothing', () => {
  const { state } = transition(unverified, time, 5 * minute, settings);
  expect(blockedBy(noPods, 'unknown', getTried(state).freed)).toBeUndefined();
  expect(blockedBy(noPods, 'failing', getTried(state).freed)).toBe('InjectorUnverified');
  expect(blockedBy(noPods, 'unknown', getTried(queued).freed)).toBe('InjectorUnverified');
});

const completions = fc.constantFrom<Completion>(
  complete,
  paused,
  noPods,
  progressing(0),
  progressing(1),
  progressing(0, { refused: 'quota' }),
);
const observations: fc.Arbitrary<Observation> = fc.oneof(
  { weight: 1, arbitrary: completions.map((each) => due(each, 'verified')) },
  { weight: 3, arbitrary: fc.tuple(completions, fc.nat(100_000)).map(([each, since]) => status(each, since)) },
  { weight: 6, arbitrary: fc.constantFrom(undefined, crash, crash, runs, noImage).map((each) => pods(each)) },
  {
    weight: 2,
    arbitrary: fc.constantFrom<Observation>(
      injected(),
      injected(noPods),
      touched,
      time,
      removed(),
      removed(true),
      evicted(true),
      evicted(false),
      status(complete),
      before(0),
      fact('verified'),
      fact('failing'),
      { kind: 'next' },
    ),
  },
);
const history = fc
  .tuple(fc.boolean(), fc.array(fc.tuple(observations, fc.nat(30_000)), { minLength: 1, maxLength: 60 }))
  .map(([isInjected, steps]) => (isInjected ? [[injected() as Observation, 0] as const, ...steps] : steps));

function follow(steps: readonly (readonly [Observation, number])[]) {
  let state = idle;
  let now = 0;
  return steps.map(([seen, afterMs]) => {
    now += afterMs;
    const before = state;
    const { state: after, action } = transition(before, seen, now, settings);
    state = after;
    return { before, seen, now, after, action };
  });
}

function flap(upMs: number, downMs: number, evidence?: Evidence, pace = settings): { end: string; at: number } {
  const periodMs = upMs + downMs;
  const isUp = (now: number) => now % periodMs >= downMs;
  const changedAt = (now: number) => now - (isUp(now) ? (now % periodMs) - downMs : now % periodMs);
  let { state } = transition(idle, injected(), 0, pace);
  for (let now = 1_000; now < hour; now += 1_000) {
    if (changedAt(now) === now) ({ state } = transition(state, touched, now, pace));
    if (transition(state, time, now, pace).action !== 'read') continue;
    const shows = status(isUp(now) ? complete : progressing(0), changedAt(now));
    const judged = transition(state, shows, now, pace);
    const { action } = judged;
    const seen = pods(isUp(now) ? undefined : evidence);
    ({ state } = action === 'look-at-pods' ? transition(judged.state, seen, now, pace) : judged);
    if (state.kind === 'reverting' || state.kind === 'verified') return { end: state.kind, at: now };
  }
  return { end: state.kind, at: Infinity };
}

describe("a workload's state in any history", () => {
  it('leads to a revert by two checks 20 s apart or by the deadline, and by nothing else [F64]', () => {
    let convictions = 0;
    fc.assert(
      fc.property(history, (steps) => {
        for (const { before, after, now } of follow(steps)) {
          if (after.kind !== 'reverting' || before.kind === 'reverting') continue;
          convictions += 1;
          if (!('progress' in before)) throw new Error(`${before.kind} was convicted`);
          const byLooks = before.look !== undefined && now - before.look.at >= settings.lookMs;
          expect(byLooks || now - before.progress.at >= settings.deadlineMs).toBe(true);
        }
      }),
      { numRuns: 3_000 },
    );
    expect(convictions).toBeGreaterThan(100);
  });

  it.each([
    ['crashes', crash],
    ['is not ready for long', undefined],
  ])('leads to a revert if the workload %s and is available for moments', (_title, evidence) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 150 }), (up, down) => {
        const { end, at } = flap(up * 1_000, down * 1_000, evidence);
        expect(end).toBe('reverting');
        expect(at).toBeLessThanOrEqual((evidence ? 1 : 2) * settings.deadlineMs + minute);
      }),
    );
  });

  it('does not verify a workload that is never complete for the soak', () => {
    const pace = { ...settings, soakMs: minute };
    fc.assert(
      fc.property(fc.integer({ min: 10, max: 50 }), fc.integer({ min: 6, max: 30 }), (up, down) => {
        expect(flap(up * 1_000, down * 1_000, undefined, pace).end).not.toBe('verified');
      }),
    );
  });

  it('always changes with time, unless it waits for a change', () => {
    fc.assert(
      fc.property(history, (steps) => {
        const last = follow(steps).at(-1);
        fc.pre(last !== undefined && 'wakeAt' in last.after && last.after.wakeAt !== Infinity);
        const { wakeAt } = last.after;
        const { state, action } = transition(last.after, time, Math.max(last.now, wakeAt), settings);
        expect(action !== undefined || state.kind === 'queued' || state.kind === 'verified').toBe(true);
      }),
      { maxSkipsPerRun: 2 },
    );
  });
});

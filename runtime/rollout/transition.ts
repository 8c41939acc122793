import { retryDelayMs } from '../injection/revert.ts';
import { isJudged, judge, judgeFirst, judgeEvidence, restMs, type OnProbation } from './judge.ts';
import {
  idle,
  type BlockedReason,
  type Due,
  type JudgeSettings,
  type Observation,
  type Reading,
  type Transition,
  type Tried,
  type WorkloadState,
} from './workload-state.ts';
import { isInjectors } from './evidence.ts';

/** When a blocked workload is read again without a change, and after one. */
const BLOCKED_MS = 5 * 60_000;
const TOUCHED_MS = 5_000;
/** The time between two evictions of a broken pod, and the time after which the evictions stop. */
const EVICT_MS = 10_000;
const EVICT_UNTIL_MS = 30 * 60_000;

export function transition(state: WorkloadState, seen: Observation, now: number, settings: JudgeSettings): Transition {
  const after = (rules[seen.kind] as Rule<typeof seen>)(state, seen, now, settings);
  return 'kind' in after ? { state: after } : after;
}

type Rule<O> = (state: WorkloadState, seen: O, now: number, settings: JudgeSettings) => WorkloadState | Transition;
type Seen<K extends Observation['kind']> = Observation & { readonly kind: K };
type In<K extends WorkloadState['kind']> = WorkloadState & { readonly kind: K };
type Waking = Extract<WorkloadState, { readonly wakeAt: number }>;

const isOnProbation = (state: WorkloadState): state is OnProbation => 'progress' in state;
/** Returns the earlier attempts of a workload that is due again. */
export function getTried(state: WorkloadState): Tried {
  if (state.kind === 'reverted') return { attempt: 0, freed: 'retry' };
  return state.kind === 'blocked' || state.kind === 'queued' ? state : { attempt: 0 };
}

const rules: { readonly [K in Observation['kind']]: Rule<Seen<K>> } = {
  due: (state, seen, now, settings) => due(unlessOther(state, seen, now, settings), seen, now),
  next: (state) => (state.kind === 'queued' ? { ...state, isNext: true } : state),
  failed: (state) => (state.kind === 'queued' ? { ...state, isNext: false } : state),
  injected: (state, seen, now, settings) => judgeFirst({ ...seen, freed: getTried(state).freed }, now, settings),
  clean: (state, { mayHang = false }, now, { deadlineMs }) => {
    if (state.kind === 'evicting') return { ...state, then: idle };
    if (state.kind === 'reverting') return evictFirst(mayHang, idle, now + TOUCHED_MS);
    // Nothing has shown yet that its pods are broken, so they keep the rest of their deadline.
    return state.kind === 'rolling' ? evictFirst(mayHang, idle, state.progress.at + deadlineMs) : idle;
  },
  proven: (state) => (state.kind === 'evicting' ? { ...state, then: afterProof(state.then) } : afterProof(state)),
  kept: (state, _seen, now) =>
    state.kind === 'reverting' ? { ...reverted(state, { rank: 4, pods: 1 }, now), isKept: true } : state,

  touched: (state, _seen, now, settings) => {
    const wakeAt = readAt(state, now, settings);
    return wakeAt === undefined || !('wakeAt' in state) ? state : { ...state, wakeAt };
  },

  status: (state, seen, now, settings) =>
    isOnProbation(state)
      ? judge(state, seen, now, settings)
      : standing(unlessOther(state, seen, now, settings), seen, now),

  pods: (state, seen, now, settings) => (isOnProbation(state) ? judgeEvidence(state, seen, now, settings) : state),

  removed: (state, { risk, mayHang }, now, settings) =>
    state.kind === 'reverting'
      ? evictFirst(mayHang, reverted(state, risk, now), now + TOUCHED_MS)
      : rules.clean(state, { kind: 'clean', mayHang }, now, settings),

  evicted: (state, { isAnyLeft }, now) => {
    if (state.kind !== 'evicting') return state;
    return isAnyLeft && now - state.since <= EVICT_UNTIL_MS ? { ...state, wakeAt: now + EVICT_MS } : state.then;
  },

  'reverted-before': (state, { evidence, risk, attempt, agoMs, mayHang }, now) => {
    // The answer to the removal was lost.
    if (state.kind === 'reverting') return evictFirst(mayHang, reverted(state, risk, now), now + TOUCHED_MS);
    if (state.kind === 'reverted' || state.kind === 'evicting' || getTried(state).attempt > 0) return state;
    // A tenant can write the annotation. It can bring the next attempt forward, but never delay it.
    const delayMs = Math.min(Math.max(0, retryDelayMs(attempt) - agoMs), retryDelayMs(attempt));
    const found = { kind: 'reverted', evidence, risk, isFound: true, attempt, wakeAt: now + delayMs } as const;
    // The earlier leader may have ended before the evictions did.
    return evictFirst(mayHang, found, now);
  },

  time: (state, { injector }, now) => {
    const isFree = state.kind === 'blocked' && state.reason === 'InjectorUnverified' && mayGoFirst(injector);
    if (isFree) return queuedAgain(state, state.freed);
    return 'wakeAt' in state && state.wakeAt <= now ? woken(state, now) : state;
  },
};

/** The user may change the template before the revert is written. The new one has not failed. */
const unlessOther = (state: WorkloadState, seen: Reading, now: number, settings: JudgeSettings): WorkloadState =>
  state.kind === 'reverting' && state.template !== seen.template
    ? judgeFirst({ ...seen, attempt: state.attempt - 1 }, now, settings)
    : state;

const evictFirst = (mayHang: boolean, then: WorkloadState, at: number): WorkloadState =>
  mayHang ? { kind: 'evicting', since: at, then, wakeAt: at } : then;

function woken(state: Waking, now: number): WorkloadState | Transition {
  if (state.kind === 'reverted') return triedAgain(state, 'retry');
  if (state.kind === 'verified' && state.until <= now) return { ...state, wakeAt: Infinity };
  if (state.kind === 'blocked' && state.reason === 'InjectorUnverified')
    return queuedAgain(state, state.freed ?? 'waited');
  if (state.kind === 'reverting') return { state, action: 'revert' };
  return { state, action: state.kind === 'evicting' ? 'evict' : 'read' };
}

function standing(state: WorkloadState, seen: Reading, now: number): WorkloadState {
  const { completion, template, isCurrent, isLocal } = seen;
  if (isOnProbation(state) || ['reverting', 'evicting', 'reverted'].includes(state.kind)) return state;
  const kept = { progress: { available: 0, at: now }, template, isCurrent, isLocal, attempt: 0, wakeAt: Infinity };
  if (completion.kind === 'complete') return { kind: 'verified', until: now, ...kept };
  // An old injection is not judged, also if its first pods start now.
  if (completion.kind === 'no-pods' && completion.isEmpty !== true) return { kind: 'untested', ...kept };
  return { kind: 'unready', isPaused: completion.kind !== 'progressing', wakeAt: Infinity };
}

function queuedAgain({ risk, attempt }: Due, freed: Tried['freed']): WorkloadState {
  return { kind: 'queued', risk, isNext: false, attempt, freed };
}

const triedAgain = (state: In<'reverted'>, freed?: Tried['freed']): WorkloadState =>
  state.isKept === true ? idle : queuedAgain(state, freed);

const afterProof = (state: WorkloadState): WorkloadState =>
  state.kind === 'reverted' && isInjectors(state.evidence) ? triedAgain(state) : state;

function reverted({ evidence, attempt }: In<'reverting'>, risk: Reading['risk'], now: number): In<'reverted'> {
  return { kind: 'reverted', evidence, risk, attempt, wakeAt: now + retryDelayMs(attempt) };
}

/** Returns when to read a workload after a change in the watch; undefined for no change of `wakeAt`. */
function readAt(state: WorkloadState, now: number, settings: JudgeSettings): number | undefined {
  const isLate = state.kind === 'verified' && state.until > now;
  const isAwaited = state.kind === 'blocked' || state.kind === 'unready' || state.kind === 'soaking';
  if (isAwaited || isLate) return Math.min(state.wakeAt, now + TOUCHED_MS);
  if (state.kind === 'untested') return Math.min(state.wakeAt, now + restMs(settings));
  // When its status has rested, and at the latest after half of its deadline.
  const isEarly = state.kind === 'rolling' && now - state.progress.at < settings.deadlineMs / 2;
  return isEarly ? now + restMs(settings) : undefined;
}

function due(state: WorkloadState, seen: Seen<'due'>, now: number): WorkloadState {
  const { risk, waits, isRetry } = seen;
  if (state.kind === 'evicting') return { ...state, then: due(state.then, seen, now) };
  if (isDueLater(state, seen, now)) return state;
  const { attempt, freed: before } = getTried(state);
  const tried = { attempt, freed: isRetry === true ? 'retry' : before } as const;
  const reason = waits ?? blockedBy(seen.completion, seen.injector, tried.freed);
  return reason === undefined
    ? { kind: 'queued', risk, isNext: state.kind === 'queued' && state.isNext, ...tried }
    : { kind: 'blocked', reason, risk, ...tried, wakeAt: waits === undefined ? now + BLOCKED_MS : Infinity };
}

/** A failing injection is judged first. A revert waits, also without its record. Each reading shows again what is due. */
const isDueLater = (state: WorkloadState, { isRetry }: Seen<'due'>, now: number): boolean =>
  state.kind === 'reverted' ? isRetry !== true && state.wakeAt > now : state.kind === 'reverting' || isJudged(state);

/** Keeps a workload without pods waiting while another one shows if the injector works. */
const mayGoFirst = (injector: Reading['injector'], freed?: Tried['freed']): boolean =>
  freed === 'retry' || (injector !== 'failing' && (injector !== 'unknown' || freed === 'waited'));

/** The changer asks again, with the same `freed`. Otherwise it could block without end what the planner queues. */
export function blockedBy(
  completion: Reading['completion'],
  injector: Reading['injector'],
  freed?: Tried['freed'],
): BlockedReason | undefined {
  if (completion.kind === 'no-pods') return mayGoFirst(injector, freed) ? undefined : 'InjectorUnverified';
  if (completion.kind === 'complete') return completion.isPaused === true ? 'Paused' : undefined;
  if (completion.kind === 'paused') return completion.isRollingOut === true ? 'RollingOut' : 'Paused';
  return completion.isReplacing ? 'RollingOut' : 'Unhealthy';
}

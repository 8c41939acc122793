import { judge, begin, weigh, type OnProbation } from './judge.ts';
import {
  BLOCKED_MS,
  EVICT_MS,
  EVICT_UNTIL_MS,
  idle,
  retryDelayMs,
  TOUCHED_MS,
  type BlockedReason,
  type JudgeSettings,
  type Observation,
  type Reading,
  type Transition,
  type WorkloadState,
} from './workload-state.ts';

/** Returns the state that follows from an observation, and what has to be done. Pure: its table is its test. */
export const transition = (state: WorkloadState, seen: Observation, now: number, settings: JudgeSettings): Transition =>
  (rules[seen.kind] as Rule<typeof seen>)(state, seen, now, settings);

type Rule<O> = (state: WorkloadState, seen: O, now: number, settings: JudgeSettings) => Transition;
type Rules = { readonly [K in Observation['kind']]: Rule<Observation & { readonly kind: K }> };
type Reverting = WorkloadState & { readonly kind: 'reverting' };

const isOnProbation = (state: WorkloadState): state is OnProbation => 'progress' in state;
const attemptOf = (state: WorkloadState): number =>
  state.kind === 'blocked' || state.kind === 'queued' ? state.attempt : 0;
const wokenBy = <S extends { readonly wakeAt: number }>(state: S, at: number): S => ({
  ...state,
  wakeAt: Math.min(state.wakeAt, at),
});

const rules: Rules = {
  due: (state, seen, now) => ({ state: due(state, seen, now) }),

  next: (state) => ({ state: state.kind === 'queued' ? { ...state, isNext: true } : state }),

  failed: (state) => ({ state: state.kind === 'queued' ? { ...state, isNext: false } : state }),

  injected: (_state, seen, now, settings) => ({ state: begin(seen, now, settings) }),

  standing: (state, seen, now) => ({ state: standing(state, seen, now) }),

  touched: (state, _seen, now, settings) => ({ state: touched(state, now, settings) }),

  status: (state, seen, now, settings) =>
    isOnProbation(state) ? judge(state, seen, now, settings) : { state: standing(state, seen, now) },

  pods: (state, seen, now, settings) => (isOnProbation(state) ? weigh(state, seen, now, settings) : { state }),

  removed: (state, { risk, mayHang }, now) => {
    if (state.kind !== 'reverting') return { state: idle };
    return mayHang ? { state: { ...state, removedAt: now, wakeAt: now + TOUCHED_MS } } : reverted(state, risk, now);
  },

  evicted: (state, { risk, isAnyLeft }, now) => {
    if (state.kind !== 'reverting') return { state };
    const isOver = !isAnyLeft || now - (state.removedAt ?? now) > EVICT_UNTIL_MS;
    return isOver ? reverted(state, risk, now) : { state: { ...state, wakeAt: now + EVICT_MS } };
  },

  'reverted-before': (state, { evidence, risk, attempt, agoMs }, now) => {
    if (state.kind === 'reverted' || state.kind === 'reverting' || attemptOf(state) > 0) return { state };
    // Anybody can write an annotation: it can bring the next attempt forward, and never put it off.
    const delayMs = Math.min(Math.max(0, retryDelayMs(attempt) - agoMs), retryDelayMs(attempt));
    return { state: { kind: 'reverted', evidence, risk, attempt, wakeAt: now + delayMs } };
  },

  clean: () => ({ state: idle }),

  injector: (state, { injector }) => {
    const isFree = state.kind === 'blocked' && state.reason === 'InjectorUnverified' && mayGoFirst(injector);
    return { state: isFree ? queuedAgain(state) : state };
  },

  time: (state, _seen, now) => {
    if (state.kind === 'reverting' && state.removedAt === undefined) return { state, action: 'revert' };
    if (!('wakeAt' in state) || state.wakeAt > now) return { state };
    if (state.kind === 'reverting') return { state, action: 'evict' };
    if (state.kind === 'reverted') return { state: queuedAgain(state) };
    // It has waited long enough for others to show how the injector fares.
    if (state.kind === 'blocked' && state.reason === 'InjectorUnverified') return { state: queuedAgain(state) };
    if (state.kind === 'verified' && state.until <= now) return { state: { ...state, wakeAt: Infinity } };
    return { state, action: 'read' };
  },
};

/** An injection that is not judged any more, or not again: its workload needs no change. */
function standing(state: WorkloadState, { completion, template }: Reading, now: number): WorkloadState {
  if (isOnProbation(state) || state.kind === 'reverting' || state.kind === 'reverted') return state;
  const kept = { progress: { available: 0, at: now }, template, attempt: 0, wakeAt: Infinity };
  if (completion.kind === 'complete') return { kind: 'verified', until: now, ...kept };
  return completion.kind === 'no-pods' ? { kind: 'untested', ...kept } : idle;
}

const queuedAgain = ({ risk, attempt }: WorkloadState & { readonly kind: 'blocked' | 'reverted' }): WorkloadState => ({
  ...{ kind: 'queued', risk, isNext: false, attempt },
});

function reverted({ evidence, attempt }: Reverting, risk: Reading['risk'], now: number): Transition {
  return { state: { kind: 'reverted', evidence, risk, attempt, wakeAt: now + retryDelayMs(attempt) } };
}

/** A rolling workload is read once its status has rested, and in any case after half of its deadline. */
function touched(state: WorkloadState, now: number, { soakMs, deadlineMs }: JudgeSettings): WorkloadState {
  switch (state.kind) {
    case 'blocked':
      return wokenBy(state, now + TOUCHED_MS);
    case 'verified':
      return state.until > now ? wokenBy(state, now + TOUCHED_MS) : state;
    case 'untested':
      return wokenBy(state, now + soakMs);
    case 'rolling':
      return now - state.progress.at < deadlineMs / 2 ? { ...state, wakeAt: now + soakMs } : state;
    default:
      return state;
  }
}

/** A workload that is to be injected, and may be changed or not. */
function due(state: WorkloadState, { completion, injector, risk, waits }: Due, now: number): WorkloadState {
  if (state.kind === 'reverting') return state;
  // The injection that stands is judged first: else one that fails would stay.
  if (state.kind === 'rolling' || state.kind === 'soaking') return { ...state, isDue: true };
  const attempt = attemptOf(state);
  if (waits !== undefined) return { kind: 'blocked', reason: waits, risk, attempt, wakeAt: Infinity };
  const reason = blockedBy(completion, injector);
  return reason === undefined
    ? { kind: 'queued', risk, isNext: state.kind === 'queued' && state.isNext, attempt }
    : { kind: 'blocked', reason, risk, attempt, wakeAt: now + BLOCKED_MS };
}

type Due = Observation & { readonly kind: 'due' };

/** While another workload shows how the injector fares, one whose pods cannot show it waits. */
const mayGoFirst = (injector: Reading['injector']): boolean => injector === 'verified' || injector === 'untried';

/** Returns why a workload cannot be changed now; undefined where it can. */
export function blockedBy(completion: Reading['completion'], injector: Reading['injector']): BlockedReason | undefined {
  switch (completion.kind) {
    case 'no-pods':
      return mayGoFirst(injector) ? undefined : 'InjectorUnverified';
    case 'complete':
      return undefined;
    case 'paused':
      return 'Paused';
    case 'progressing':
      return completion.isReplacing ? 'RollingOut' : 'Unhealthy';
  }
}

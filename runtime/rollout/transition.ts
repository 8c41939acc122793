import type { Completion } from './completion.ts';
import type { InjectorHealth } from './injector-health.ts';
import { judge, weigh, type OnProbation } from './judge.ts';
import {
  BLOCKED_MS,
  idle,
  LOOK_MS,
  retryDelayMs,
  TOUCHED_MS,
  type BlockedReason,
  type JudgeSettings,
  type Observation,
  type Transition,
  type WorkloadState,
} from './workload-state.ts';

/** Returns the state that follows from an observation, and what has to be done. Pure: its table is its test. */
export const transition = (state: WorkloadState, seen: Observation, now: number, settings: JudgeSettings): Transition =>
  (rules[seen.kind] as Rule<typeof seen>)(state, seen, now, settings);

type Rule<O> = (state: WorkloadState, seen: O, now: number, settings: JudgeSettings) => Transition;
type Rules = { readonly [K in Observation['kind']]: Rule<Observation & { readonly kind: K }> };

const isOnProbation = (state: WorkloadState): state is OnProbation => 'progress' in state;
const attemptOf = (state: WorkloadState): number => ('attempt' in state ? state.attempt : 0);

const rules: Rules = {
  due: (state, { completion, injector }, now) => ({ state: due(state, completion, injector, now) }),

  injected: (state, _seen, now, { soakMs }) => ({
    state: {
      kind: 'rolling',
      progress: { available: 0, at: now },
      attempt: attemptOf(state),
      wakeAt: now + Math.min(soakMs, LOOK_MS),
    },
  }),

  // A status is read once it has rested.
  touched: (state, _seen, now, { soakMs }) => {
    if (state.kind === 'verified' || state.kind === 'blocked')
      return { state: { ...state, wakeAt: Math.min(state.wakeAt, now + TOUCHED_MS) } };
    return state.kind === 'rolling' ? { state: { ...state, wakeAt: Math.min(state.wakeAt, now + soakMs) } } : { state };
  },

  status: (state, seen, now, settings) => (isOnProbation(state) ? judge(state, seen, now, settings) : { state }),

  pods: (state, { evidence }, now) => (isOnProbation(state) ? weigh(state, evidence, now) : { state }),

  removed: (state, _seen, now) => {
    if (state.kind !== 'reverting') return { state: idle };
    const { evidence, attempt } = state;
    return { state: { kind: 'reverted', evidence, attempt, wakeAt: now + retryDelayMs(attempt) } };
  },

  changed: (state) =>
    state.kind === 'reverted' || state.kind === 'blocked' ? { state: { kind: 'queued', attempt: 0 } } : { state },

  time: (state, _seen, now) => {
    if (state.kind === 'reverting') return { state, action: 'revert' };
    if (!('wakeAt' in state) || state.wakeAt > now) return { state };
    if (state.kind === 'reverted') return { state: { kind: 'queued', attempt: state.attempt } };
    if (state.kind === 'verified' && state.until <= now) return { state: idle };
    // Should the read come to nothing, it is repeated.
    return { state: { ...state, wakeAt: now + LOOK_MS }, action: 'read' };
  },
};

/** A workload that is to be injected, and may be changed or not. One whose injection is judged or was reverted stays where it is. */
function due(state: WorkloadState, completion: Completion, injector: InjectorHealth, now: number): WorkloadState {
  const isFree = state.kind === 'idle' || state.kind === 'blocked' || state.kind === 'queued';
  if (!isFree) return state;
  const reason = blockedBy(completion, injector);
  const attempt = attemptOf(state);
  return reason === undefined
    ? { kind: 'queued', attempt }
    : { kind: 'blocked', reason, attempt, wakeAt: now + BLOCKED_MS };
}

/** If no pod shows how a workload fares, a revert would come too late. It waits until this injector was seen to run. */
function blockedBy(completion: Completion, injector: InjectorHealth): BlockedReason | undefined {
  switch (completion.kind) {
    case 'no-pods':
      return injector === 'verified' ? undefined : 'InjectorUnverified';
    case 'complete':
      return undefined;
    case 'paused':
      return 'Paused';
    case 'progressing':
      return completion.isReplacing ? 'RollingOut' : 'Unhealthy';
  }
}

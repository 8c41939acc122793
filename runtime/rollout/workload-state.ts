import type { Completion } from './completion.ts';
import type { Evidence } from './evidence.ts';
import type { InjectorHealth } from './injector-health.ts';

/**
 * Where one workload is on its way to run with the injection: one state, one discriminant, one transition function (transition.ts).
 * Every time is the leader's own, in milliseconds of its monotonic clock: a tenant can write anything into an object.
 *
 *     idle → blocked ⇄ queued → rolling → soaking → verified → idle
 *                                  ↓         ↓          ↓
 *                                reverting → reverted → queued
 *
 * `wakeAt`: when to observe `time` should nothing else be observed before. `attempt`: how often an injection of this program was
 * reverted.
 */
export type WorkloadState =
  /** Nothing is on its way. */
  | { readonly kind: 'idle' }
  /** It cannot be changed now. */
  | { readonly kind: 'blocked'; readonly reason: BlockedReason; readonly attempt: number; readonly wakeAt: number }
  /** It is in the queue. */
  | { readonly kind: 'queued'; readonly attempt: number }
  /** The injection is written, and the workload's controller replaces its pods. */
  | ({ readonly kind: 'rolling' } & Probation)
  /** The status says complete. It has to say so for `soakMs`. */
  | ({ readonly kind: 'soaking'; readonly since: number } & Probation)
  /** It delays no other workload. Its status is read until `until`, because some programs fail late. */
  | ({ readonly kind: 'verified'; readonly until: number } & Probation)
  /** The removal of its injection is due, or under way. */
  | { readonly kind: 'reverting'; readonly evidence: Evidence; readonly attempt: number }
  /** Its injection was removed. It is queued again at `wakeAt`. */
  | { readonly kind: 'reverted'; readonly evidence: Evidence; readonly attempt: number; readonly wakeAt: number };

export type BlockedReason = 'Paused' | 'RollingOut' | 'Unhealthy' | 'InjectorUnverified';

/** An injection that is judged. */
export interface Probation {
  /** The most pods of its generation that were available, and since when. */
  readonly progress: { readonly available: number; readonly at: number };
  readonly wakeAt: number;
  /** The first of the two looks at failing pods. */
  readonly look?: { readonly evidence: Evidence; readonly at: number } | undefined;
  readonly attempt: number;
}

/** One fact that the leader learns about a workload. */
export type Observation =
  /** It is to be injected, and was read whole. */
  | { readonly kind: 'due'; readonly completion: Completion; readonly injector: InjectorHealth }
  /** Its injection is written, by the reconciler or by the webhook. */
  | { readonly kind: 'injected' }
  /** The watch reported a change of it. */
  | { readonly kind: 'touched' }
  /** It was read whole, with its injection. `unchangedSince`: when the watch last reported a change. */
  | { readonly kind: 'status'; readonly completion: Completion; readonly unchangedSince: number }
  /** The pods of its generation were listed. */
  | { readonly kind: 'pods'; readonly evidence: Evidence | undefined }
  /** Its injection is removed. */
  | { readonly kind: 'removed' }
  /** The program, the injector or the retry annotation changed: an earlier failure says nothing of it. */
  | { readonly kind: 'changed' }
  | { readonly kind: 'time' };

/** The next step, beside keeping the state. */
export type Action = 'read' | 'look-at-pods' | 'revert';

export interface Transition {
  readonly state: WorkloadState;
  readonly action?: Action;
}

export interface JudgeSettings {
  /** How long a complete status has to last. */
  readonly soakMs: number;
  /** How long no further pod may become available. */
  readonly deadlineMs: number;
}

export const idle: WorkloadState = { kind: 'idle' };

/** The time between two looks at failing pods. */
export const LOOK_MS = 20_000;
/** How long a verified workload's status is still read. */
export const LATE_MS = 2 * 60_000;
/** When a blocked workload is read again though nothing of it changed, and after a change. */
export const BLOCKED_MS = 5 * 60_000;
export const TOUCHED_MS = 5_000;
/** The time until the next attempt, by the number of attempts that were reverted. */
const RETRY_MS = [10 * 60_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000];

/** Returns how long to wait after the `attempt`-th revert (1: the first), in milliseconds. */
export const retryDelayMs = (attempt: number): number => RETRY_MS[Math.min(attempt, RETRY_MS.length) - 1] ?? 0;

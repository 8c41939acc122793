import { annotations } from '../contract.ts';
import type { Completion } from './completion.ts';
import type { Evidence, Look } from './evidence.ts';
import type { InjectorHealth } from './injector-health.ts';
import type { Risk } from './turns.ts';

/**
 * Where one workload is on its way to run with the injection: one state, one discriminant, one transition function (transition.ts).
 * Every time is the leader's own, in milliseconds of its monotonic clock: a tenant can write anything into an object.
 *
 *     idle → blocked ⇄ queued → rolling → soaking → verified
 *                         │        ↓         ↓          ↓
 *                      untested → reverting → reverted → queued
 */
export type WorkloadState =
  | { readonly kind: 'idle' }
  | ({ readonly kind: 'blocked'; readonly reason: BlockedReason } & Due & Waking)
  /** It is in the queue. `isNext`: its injection is to be written now. */
  | ({ readonly kind: 'queued'; readonly isNext: boolean } & Due)
  /** The injection is written, and the workload's controller replaces its pods. */
  | ({ readonly kind: 'rolling' } & Probation)
  /** The status says complete. It has to say so for `soakMs`. */
  | ({ readonly kind: 'soaking'; readonly since: number } & Probation)
  /** It runs with the injection. Its status is read until `until`, because some programs fail late. */
  | ({ readonly kind: 'verified'; readonly until: number } & Probation)
  /**
   * The injection is written, and no pod shows yet how it fares: a CronJob, no replicas, or a pause. `isFirst`: it is the first with
   * this injector, and the other workloads of its namespace wait until it was read once.
   */
  | ({ readonly kind: 'untested'; readonly isFirst?: true } & Probation)
  /** The removal of its injection is due. `removedAt`: it is written, and broken pods may be left that its controller waits for. */
  | ({ readonly kind: 'reverting'; readonly evidence: Evidence; readonly removedAt?: number } & Tried & Waking)
  /**
   * Its injection was removed. It is queued again at `wakeAt`. `isFound`: known by its annotation alone, because an earlier leader
   * reverted it, or its tenant says so.
   */
  | ({ readonly kind: 'reverted'; readonly evidence: Evidence; readonly isFound?: true } & Due & Waking);

/** `attempt`: how often an injection of this program was reverted. */
interface Tried {
  readonly attempt: number;
}

interface Due extends Tried {
  readonly risk: Risk;
}

/** `wakeAt`: when to observe `time` should nothing else be observed before; Infinity for never. */
interface Waking {
  readonly wakeAt: number;
}

/** Why a workload cannot be changed now: the rest of a sentence that begins with the workload. */
export const blockedTexts = {
  Paused: 'is paused',
  RollingOut: 'is in the middle of its own rollout',
  Unhealthy: 'has pods that are not available',
  InjectorUnverified: 'has no pods to judge, and another workload is about to show whether the injector runs',
  WaitsForChange: 'is injected when its pod template changes (setting rollout.strategy)',
  WaitsForApproval: `is injected when its pod template changes or you set the annotation ${annotations.retry} (setting rollout.strategy)`,
} as const;
export type BlockedReason = keyof typeof blockedTexts;

interface Injection {
  /** A fingerprint of the pod template. */
  readonly template: string;
  /** The injector is the one of this version: it says how that one fares. */
  readonly isCurrent: boolean;
}

export interface Probation extends Injection, Tried, Waking {
  /** The most pods of its generation that were available, and since when. */
  readonly progress: { readonly available: number; readonly at: number };
  /** The first of the two looks at failing pods. */
  readonly look?: { readonly evidence: Evidence; readonly at: number } | undefined;
}

export interface Reading extends Injection {
  readonly completion: Completion;
  readonly risk: Risk;
  readonly injector: InjectorHealth;
}

export type Observation =
  /** It is to be injected, and was read whole. `waits`: the settings let it wait until its user acts. */
  | ({ readonly kind: 'due'; readonly waits?: BlockedReason | undefined } & Reading)
  | { readonly kind: 'next' }
  | { readonly kind: 'failed' }
  /** Its injection is written, by the reconciler or by the webhook. */
  | ({ readonly kind: 'injected'; readonly attempt: number } & Reading)
  | { readonly kind: 'touched' }
  /** It was read whole, with its injection. `unchangedSince`: when the watch last reported a change. */
  | ({ readonly kind: 'status'; readonly unchangedSince: number } & Reading)
  | ({ readonly kind: 'pods' } & Look)
  /** Its injection is removed. `mayHang`: its controller waits for broken pods without end. */
  | { readonly kind: 'removed'; readonly risk: Risk; readonly mayHang: boolean }
  /** Its broken pods were evicted, or none is left. */
  | { readonly kind: 'evicted'; readonly risk: Risk; readonly isAnyLeft: boolean }
  /** Its annotation says that its injection was reverted, `agoMs` ago. */
  | ({ readonly kind: 'reverted-before'; readonly evidence: Evidence; readonly agoMs: number } & Due)
  /** It is as it should be, without an injection. */
  | { readonly kind: 'clean' }
  | { readonly kind: 'time'; readonly injector: InjectorHealth };

export type Action = 'read' | 'look-at-pods' | 'revert' | 'evict';

export interface Transition {
  readonly state: WorkloadState;
  readonly action?: Action;
}

/** How long a complete status has to last, no further pod may become available, and failing pods are not looked at again. */
export interface JudgeSettings {
  readonly soakMs: number;
  readonly deadlineMs: number;
  readonly lookMs: number;
}

export const idle: WorkloadState = { kind: 'idle' };

export const LATE_MS = 2 * 60_000;
/** When a blocked workload is read again though nothing of it changed, and after a change. */
export const BLOCKED_MS = 5 * 60_000;
export const TOUCHED_MS = 5_000;
/** The time between two evictions of a broken pod, and after which the pods of a reverted workload are left to its controller. */
export const [EVICT_MS, EVICT_UNTIL_MS] = [10_000, 30 * 60_000];
/** The time until the next attempt, by the number of attempts that were reverted. */
const RETRY_MS = [10 * 60_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000];

export const retryDelayMs = (attempt: number): number => RETRY_MS[Math.min(attempt, RETRY_MS.length) - 1] ?? 0;

import { annotations } from '../contract.ts';
import type { Completion } from './completion.ts';
import type { Evidence, Look } from './evidence.ts';
import type { InjectorHealth } from './injector-health.ts';
import type { Risk } from './batches.ts';

/**
 * The progress of one workload towards running with the injection. transition.ts has the transition function. Times are
 * the leader's own monotonic clock in milliseconds, because a tenant can write any time into an object.
 *
 *     idle → blocked ⇄ queued → rolling → soaking → verified
 *                         │        ↓         ↓          ↓
 *                      untested → reverting → evicting → reverted → queued
 */
export type WorkloadState =
  | { readonly kind: 'idle' }
  /** An older injection whose pods do not all run, or are paused. It is not judged, and is read again after a change. */
  | ({ readonly kind: 'unready'; readonly isPaused: boolean } & Waking)
  | ({ readonly kind: 'blocked'; readonly reason: BlockedReason } & Due & Waking)
  /** `isNext`: its injection must be written now. */
  | ({ readonly kind: 'queued'; readonly isNext: boolean } & Due)
  | ({ readonly kind: 'rolling' } & Probation)
  /** The status is complete, and must stay so for `soakMs` after `since`. A change moves `since`, but not `from`. */
  | ({ readonly kind: 'soaking'; readonly since: number; readonly from: number } & Probation)
  /** Its status is read until `until`, because some programs fail late. */
  | ({ readonly kind: 'verified'; readonly until: number } & Probation)
  /**
   * No pod shows yet if the injection works: a CronJob, no replicas, or a pause. `first`: the first with this injector,
   * read until its deadline. The others of its namespace wait for an `awaited` one, until a look finds no pods.
   */
  | ({ readonly kind: 'untested'; readonly first?: 'awaited' | 'late' | undefined } & Probation)
  /** `template`: the one that failed. */
  | ({ readonly kind: 'reverting'; readonly evidence: Evidence; readonly template: string } & Tried & Waking)
  /** The injection is removed, and the controller may wait for broken pods. `then`: the state after their evictions. */
  | ({ readonly kind: 'evicting'; readonly since: number; readonly then: WorkloadState } & Waking)
  /**
   * `isFound`: known only by its annotation, from an earlier leader or a tenant. `isKept`: a Job, which keeps the
   * injection, and is not tried again.
   */
  | ({ readonly kind: 'reverted'; readonly evidence: Evidence } & Marks<'isFound' | 'isKept'> & Due & Waking);

type Marks<K extends string> = { readonly [Mark in K]?: true };

export interface Tried {
  readonly attempt: number;
  /** `retry`: it was reverted, and goes alone, also during a halt. `waited`: it waits for no other tenant any more. */
  readonly freed?: 'retry' | 'waited' | undefined;
}

export interface Due extends Tried {
  readonly risk: Risk;
}

/** The time of the next `time` observation, if no other comes first; Infinity for never. */
interface Waking {
  readonly wakeAt: number;
}

/** Endings of sentences that begin with the workload. */
export const blockedTexts = {
  Paused: 'is paused',
  RollingOut: 'is in the middle of its own rollout',
  Unhealthy: 'has pods that are not available',
  InjectorUnverified: 'has no pods to judge, and another workload is about to show whether the injector runs',
  Contested: 'is changed back by another writer after each change',
  WaitsForChange: 'is injected when its pod template changes (setting rollout.strategy)',
  WaitsForApproval: `is injected when its pod template changes or you set the annotation ${annotations.retry} (setting rollout.strategy)`,
} as const;
export type BlockedReason = keyof typeof blockedTexts;

export interface Probation extends Pick<Reading, 'template' | 'isCurrent' | 'isLocal' | 'isOwn'>, Tried, Waking {
  /** The most pods of its generation that were available, how many were missing then, and the time of the last progress. */
  readonly progress: { readonly available: number; readonly missing?: number; readonly at: number };
  readonly look?: { readonly evidence: Evidence; readonly at: number } | undefined;
}

export interface Reading {
  readonly template: string;
  /** Its record names the injector of the settings. A tenant can write that. */
  readonly isCurrent: boolean;
  /** It shows nothing about other namespaces: its image is a mirror's, or only pods show it, which a tenant can make. */
  readonly isLocal?: boolean | undefined;
  /** This leader has just added the injection, so the template without it is that of the stable pods. */
  readonly isOwn?: boolean | undefined;
  readonly completion: Completion;
  readonly risk: Risk;
  readonly injector: InjectorHealth;
}

export type Observation =
  /** `waits`: the settings delay the injection until a user acts. `isRetry`: its annotation says that it was reverted. */
  | ({ readonly kind: 'due'; readonly waits?: BlockedReason | undefined; readonly isRetry?: boolean } & Reading)
  | { readonly kind: 'next' }
  | { readonly kind: 'failed' }
  | ({ readonly kind: 'injected' } & Reading & Tried)
  | { readonly kind: 'touched' }
  /** `unchangedSince`: the last change in the watch. */
  | ({ readonly kind: 'status'; readonly unchangedSince: number } & Reading)
  | ({ readonly kind: 'pods' } & Look)
  | { readonly kind: 'kept' }
  /** `mayHang`: its controller waits for broken pods without end. */
  | { readonly kind: 'removed'; readonly risk: Risk; readonly mayHang: boolean }
  | { readonly kind: 'evicted'; readonly isAnyLeft: boolean }
  | ({
      readonly kind: 'reverted-before';
      readonly evidence: Evidence;
      readonly agoMs: number;
      readonly mayHang: boolean;
    } & Due)
  | { readonly kind: 'clean'; readonly mayHang?: boolean }
  /** A retry in its namespace is verified, so the injector runs again. */
  | { readonly kind: 'proven' }
  | { readonly kind: 'time'; readonly injector: InjectorHealth };

export type Action = 'read' | 'look-at-pods' | 'revert' | 'evict';

export interface Transition {
  readonly state: WorkloadState;
  readonly action?: Action;
}

/** How long a complete status must last, a rollout may stand still, and failing pods are not looked at again. */
export interface JudgeSettings {
  readonly soakMs: number;
  readonly deadlineMs: number;
  readonly lookMs: number;
}

export const idle: WorkloadState = { kind: 'idle' };

import type { Evidence } from '../rollout/evidence.ts';
import { SOONEST_CHECK_MS } from '../rollout/rollout-of.ts';
import type { Rollout } from '../rollout/rollout.ts';
import type { ObservedPod } from '../rollout/trial.ts';
import type { Now, ObservedWorkload } from './observed.ts';

/** A workload that is on its way in this manner. */
export type With<T> = ObservedWorkload & { readonly rollout: T & { readonly policy: Rollout['policy'] } };

/** What is to be done to a workload beside checking where it is. `forgive`: its injection was not at fault, and may be tried again. */
export type Task = { readonly do: 'inject' | 'forgive' } | { readonly do: 'revert'; readonly evidence: Evidence };

export interface RolloutStep {
  readonly workload: ObservedWorkload;
  readonly reason: string;
  /** Left out: only a check of where it is. */
  readonly task?: Task;
}

/** What follows for one workload. */
export interface Step {
  readonly step?: RolloutStep;
  readonly broken?: readonly ObservedPod[];
  /** Left out: stays as it was noted. */
  readonly noted?: readonly [ObservedWorkload, Rollout | undefined];
  readonly wakeAt?: number;
}

export const podsOf = ({ kind, name }: ObservedWorkload): string => `${kind.kind}/${name}`;

/** Has its own status read, at `at` by the monotonic clock. */
export const check = (workload: ObservedWorkload, at: number, now: Now): Step =>
  at <= now.ms ? { step: { workload, reason: 'its pods are watched' } } : { wakeAt: at };

/** Whether its own status was read a moment ago. */
export const isFresh = ({ seenAt }: { readonly seenAt: number }, now: Now): boolean =>
  now.ms - seenAt <= SOONEST_CHECK_MS;

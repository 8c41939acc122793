import type { Decision } from '../injection/decision.ts';
import type { Metadata, NamespacePolicy, Workload } from '../injection/types.ts';
import { backoffMs } from '../kubernetes/http/plan-retry.ts';
import { revertOf } from '../injection/revert.ts';
import type { Observation } from '../rollout/workload-state.ts';
import type { Failure, ObservedWorkload, Write } from './observed.ts';
import { isContested } from './plan-workload.ts';

export type Change = 'added' | 'updated' | 'removed' | 'none';

/** What came of a planned change. */
export type ChangeResult =
  /** Nothing had to be written. */
  | {
      readonly kind: 'left';
      readonly metadata: Metadata;
      readonly workload: Workload;
      readonly decision: Decision & { readonly action: 'none' };
    }
  | Waiting
  | Written
  | { readonly kind: 'gone' }
  /** The policy is another one by now: nothing was written, and a new plan says what is to be done. */
  | { readonly kind: 'outdated' }
  | Failed;

/** It waits, for its turn or for its pods. */
export interface Waiting {
  readonly kind: 'waiting';
  readonly metadata: Metadata;
  readonly workload: Workload;
  readonly observation: Observation;
}

export interface Written {
  readonly kind: 'written';
  readonly metadata: Metadata;
  readonly change: Change;
  readonly decision: Exclude<Decision, { readonly action: 'none' }>;
}

export interface Failed {
  readonly kind: 'failed';
  readonly change: Change;
  readonly problem: string;
  /** The API server said no; otherwise it gave no answer, or asks for time. */
  readonly isRefused: boolean;
}

interface Outcome {
  /** The workload as it was when the change began. */
  readonly before: ObservedWorkload;
  /** The policy that the change was planned under; it settles nothing under another. */
  readonly policy: NamespacePolicy;
  readonly result: ChangeResult;
  /** Whether the workload is still as the result shows it. */
  readonly isCurrent: boolean;
  /** Milliseconds of the monotonic clock. */
  readonly now: number;
  /** In [0, 1). */
  readonly random: number;
}

const backoff = { firstMs: 1_000, maxMs: 5 * 60_000 };

type Fact = 'settled' | 'failure' | 'write' | 'elsewhere' | 'tooLarge';

/** What follows from a change that has ended, for the plans that come after it. */
export function factsOf(outcome: Outcome): Pick<ObservedWorkload, Fact> {
  const { before, policy, result, isCurrent } = outcome;
  const { failure, write, elsewhere, tooLarge } = before;
  const settled = isCurrent ? policy : undefined;
  const same = { settled: undefined, failure, write, elsewhere, tooLarge };
  switch (result.kind) {
    case 'gone':
    case 'outdated':
      return same;
    case 'failed':
      return { ...same, failure: failureAfter(outcome, result) };
    case 'waiting':
      return { ...same, settled };
    case 'left': {
      // Whoever touched it left the change in place.
      const untouched = write === undefined ? undefined : { ...write, touchedAt: undefined };
      const { elsewhere: sendsTo, code } = result.decision;
      const seen = { elsewhere: sendsTo, tooLarge: code === 'too-large' };
      return { settled, failure: undefined, write: untouched, ...seen };
    }
    case 'written': {
      const latest = result.change === 'none' ? write : writeAfter(outcome, result);
      return { settled, failure: undefined, write: latest, elsewhere: undefined, tooLarge: false };
    }
  }
}

function failureAfter({ before, policy, now, random }: Outcome, { problem, isRefused }: Failed): Failure {
  const earlier = before.failure?.policy === policy ? before.failure : undefined;
  const count = (earlier?.count ?? 0) + 1;
  const refusedSince = earlier?.refusedSince ?? (isRefused ? now : undefined);
  return { policy, count, refusedSince, retryAt: now + backoffMs(count, backoff, random), problem };
}

/**
 * A write that follows soon upon another's undoing, under the same policy, repeats it. A revert is no change that another could undo.
 */
function writeAfter({ before, policy, isCurrent, now }: Outcome, { decision }: Written): Write | undefined {
  if (revertOf(decision.workload.metadata) !== undefined) return undefined;
  const repeats = isContested(before, policy) ? (before.write?.repeats ?? 0) + 1 : 0;
  return { policy, at: now, touchedAt: isCurrent ? undefined : now, repeats };
}

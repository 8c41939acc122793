import type { NamespacePolicy } from '../injection/types.ts';
import { backoffMs } from '../kubernetes/plan-backoff.ts';
import type { ChangeResult } from './change-workload.ts';
import type { Failure, ObservedWorkload, Write } from './observed.ts';
import { wasUndone } from './plan-workload.ts';

export interface Outcome {
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

export type Facts = Pick<ObservedWorkload, 'settled' | 'failure' | 'write' | 'elsewhere'>;

const backoff = { firstMs: 1_000, maxMs: 5 * 60_000 };

/** What follows from a change that has ended, for the plans that come after it. */
export function factsOf(outcome: Outcome): Facts {
  const { before, policy, result, isCurrent } = outcome;
  const { elsewhere, write } = before;
  switch (result.kind) {
    case 'gone':
    case 'outdated':
      return { settled: undefined, failure: before.failure, write, elsewhere };
    case 'failed':
      return { settled: undefined, failure: failureAfter(outcome, result), write, elsewhere };
    case 'left':
      return {
        settled: isCurrent ? policy : undefined,
        failure: undefined,
        // Whoever touched it left the change in place.
        write: write === undefined ? undefined : { ...write, touchedAt: undefined },
        elsewhere: result.decision.elsewhere,
      };
    case 'written':
      return {
        settled: isCurrent ? policy : undefined,
        failure: undefined,
        write: result.change === 'none' ? write : writeAfter(outcome),
        elsewhere: undefined,
      };
  }
}

function failureAfter(
  { before, policy, now, random }: Outcome,
  { problem, isRefused }: ChangeResult & { readonly kind: 'failed' },
): Failure {
  const earlier = before.failure?.policy === policy ? before.failure : undefined;
  const count = (earlier?.count ?? 0) + 1;
  const refusedSince = earlier?.refusedSince ?? (isRefused ? now : undefined);
  return { policy, count, refusedSince, retryAt: now + backoffMs(count, backoff, random), problem };
}

/** A write that follows soon upon another's undoing, under the same policy, repeats it. */
function writeAfter({ before, policy, isCurrent, now }: Outcome): Write {
  const { write } = before;
  const isRepeat = write?.policy === policy && wasUndone(write);
  return { policy, at: now, touchedAt: isCurrent ? undefined : now, repeats: isRepeat ? write.repeats + 1 : 0 };
}

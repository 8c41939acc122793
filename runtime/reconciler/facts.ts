import type { Decision } from '../injection/decision.ts';
import type { Metadata, NamespacePolicy } from '../injection/types.ts';
import { backoffMs } from '../kubernetes/http/plan-retry.ts';
import type { Evidence } from '../rollout/evidence.ts';
import type { Rollout } from '../rollout/rollout.ts';
import type { Failure, ObservedWorkload, Write } from './observed.ts';
import { isContested } from './plan-workload.ts';

export type Change = 'added' | 'updated' | 'removed' | 'none';

/** What came of a planned change. */
export type ChangeResult =
  /** Nothing had to be written. */
  | {
      readonly kind: 'left';
      readonly metadata: Metadata;
      readonly decision: Decision & { readonly action: 'none' };
      readonly rollout: Rollout | undefined;
    }
  /** It is to be changed, and waits for its turn. */
  | {
      readonly kind: 'queued';
      readonly metadata: Metadata;
      readonly rollout: Rollout;
      /** Its injection was put back without being at fault, as has come out. */
      readonly isForgiven?: boolean;
    }
  | Written
  | { readonly kind: 'gone' }
  /** The policy is another one by now: nothing was written, and a new plan says what is to be done. */
  | { readonly kind: 'outdated' }
  | Failed;

export interface Written {
  readonly kind: 'written';
  readonly metadata: Metadata;
  readonly change: Change;
  readonly decision: Exclude<Decision, { readonly action: 'none' }>;
  readonly rollout: Rollout | undefined;
  /** What had it put back, if anything did. */
  readonly evidence?: Evidence;
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

type Fact = 'settled' | 'failure' | 'write' | 'elsewhere' | 'tooLarge' | 'rollout';

/** What follows from a change that has ended, for the plans that come after it. */
export function factsOf(outcome: Outcome): Pick<ObservedWorkload, Fact> {
  const { before, policy, result, isCurrent } = outcome;
  const { failure, write, elsewhere, tooLarge } = before;
  const settled = isCurrent ? policy : undefined;
  const rollout = rolloutNoted(outcome);
  const same = { settled: undefined, failure, write, elsewhere, tooLarge, rollout };
  switch (result.kind) {
    case 'gone':
    case 'outdated':
      return same;
    case 'failed':
      return { ...same, failure: failureAfter(outcome, result) };
    case 'queued':
      return { ...same, failure: undefined };
    case 'left': {
      // Whoever touched it left the change in place.
      const untouched = write === undefined ? undefined : { ...write, touchedAt: undefined };
      const { elsewhere: sendsTo, code } = result.decision;
      const seen = { elsewhere: sendsTo, tooLarge: code === 'too-large' };
      return { settled, failure: undefined, write: untouched, ...seen, rollout };
    }
    case 'written': {
      const latest = result.change === 'none' ? write : writeAfter(outcome, result);
      return { settled, failure: undefined, write: latest, elsewhere: undefined, tooLarge: false, rollout };
    }
  }
}

/** Where the workload is on its way. What failed makes room for others. */
function rolloutNoted({ before: { rollout }, result, isCurrent }: Outcome): ObservedWorkload['rollout'] {
  if ('rollout' in result) return isCurrent ? result.rollout : undefined;
  return result.kind === 'failed' && rollout?.state === 'queued' ? { ...rollout, granted: false } : rollout;
}

function failureAfter({ before, policy, now, random }: Outcome, { problem, isRefused }: Failed): Failure {
  const earlier = before.failure?.policy === policy ? before.failure : undefined;
  const count = (earlier?.count ?? 0) + 1;
  const refusedSince = earlier?.refusedSince ?? (isRefused ? now : undefined);
  return { policy, count, refusedSince, retryAt: now + backoffMs(count, backoff, random), problem };
}

/**
 * A write that follows soon upon another's undoing, under the same policy, repeats it. What is put back because of its pods is no
 * change that anybody could undo.
 */
function writeAfter({ before, policy, isCurrent, now }: Outcome, { evidence }: Written): Write | undefined {
  if (evidence !== undefined) return undefined;
  const repeats = isContested(before, policy) ? (before.write?.repeats ?? 0) + 1 : 0;
  return { policy, at: now, touchedAt: isCurrent ? undefined : now, repeats };
}

import { backoffMs } from '../async/retrying.ts';
import { guardAnswer } from '../contract.ts';
import type { Decision } from '../injection/decision.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { hasInjection } from '../injection/remove.ts';
import { findRevert } from '../injection/revert.ts';
import { digest } from '../wording/digest.ts';
import type { Observation } from '../rollout/workload-state.ts';
import type { Facts, Failure, ObservedWorkload, Write } from './observed.ts';
import { CONTESTED_MS, mayBeUndone } from './plan-workload.ts';

export type Change = 'added' | 'updated' | 'removed' | 'none';

interface Left {
  readonly kind: 'left';
  readonly workload: Workload;
  readonly decision: Decision & { readonly kind: 'none' };
  /** Another writer undid the last write, which is not repeated yet. */
  readonly isUndone?: true;
}

export type ChangeResult = Left | Waiting | Written | { readonly kind: 'outdated' } | Failed;

export interface Waiting {
  readonly kind: 'waiting';
  readonly workload: Workload;
  readonly observation: Observation;
}

export interface Written {
  readonly kind: 'written';
  readonly workload: Workload;
  readonly change: Change;
  readonly decision: Exclude<Decision, { readonly kind: 'none' }>;
  /** Another webhook restored the pod template within the write. */
  readonly isUndone?: true;
}

export interface Failed {
  readonly kind: 'failed';
  readonly change: Change;
  readonly problem: string;
  /** The API server refused. Otherwise it did not answer, or was busy. */
  readonly isRefused: boolean;
  /** It would accept the workload as it is. Undefined: not known. */
  readonly isInjectionRefused?: boolean | undefined;
  /** Milliseconds. The API server was busy, and asks to wait. */
  readonly atLeastMs?: number;
}

/** `before`: at the start of the change. `isCurrent`: unchanged since the result. `random`: in [0, 1). */
interface Outcome {
  readonly before: ObservedWorkload;
  readonly policy: NamespacePolicy;
  readonly result: ChangeResult;
  readonly isCurrent: boolean;
  readonly now: number;
  readonly random: number;
}

export function getFacts(outcome: Outcome): Facts {
  const { policy, result, isCurrent } = outcome;
  const seen = { checkedUnder: isCurrent && !('isUndone' in result) ? policy : undefined, expectedUnder: undefined };
  switch (result.kind) {
    case 'outdated':
      return { checkedUnder: undefined };
    case 'failed':
      return { checkedUnder: undefined, failure: failureAfter(outcome, result) };
    case 'waiting':
      return result.observation.kind === 'evicted' ? {} : seen;
    case 'left':
      return { ...seen, ...decided(policy, result), ...whenLeft(outcome, result) };
    case 'written':
      return { ...seen, ...decided(policy, result), failure: undefined, write: writeAfter(outcome, result) };
  }
}

const decided = (policy: NamespacePolicy, { decision: { elsewhere, message, ...last } }: Left | Written): Facts => ({
  elsewhere,
  lastDecision: { policy, tried: last.tried, code: last.code, message: digest(message) },
});

function whenLeft(outcome: Outcome, left: Left): Facts {
  const { write, state, failure } = outcome.before;
  return {
    // A read between two attempts of a revert is no success.
    failure: state?.kind === 'reverting' ? failure : undefined,
    write: write && shown(write, outcome, left),
  };
}

/** Returns if the write stands. A change by another writer since the result may have undone it. */
function shown(write: Write, { isCurrent, now }: Outcome, { isUndone }: Left | Written): Write {
  if (!isCurrent) return { ...write, touchedAt: now };
  return isUndone === true
    ? { ...write, touchedAt: write.touchedAt ?? now, undoneAt: now }
    : { ...write, touchedAt: undefined, undoneAt: undefined };
}

function failureAfter({ before, policy, now, random }: Outcome, failed: Failed): Failure {
  const { problem, isRefused, atLeastMs } = failed;
  const earlier = before.failure?.policy === policy ? before.failure : undefined;
  const count = (earlier?.count ?? 0) + 1;
  const refusedSince = earlier?.refusedSince ?? (isRefused ? now : undefined);
  const retryAt = now + backoffMs(count, { firstMs: 1_000, maxMs: 5 * 60_000, random, atLeastMs });
  return { policy, count, refusedSince, retryAt, problem, refusesInjection: refusesInjection(failed, earlier) };
}

/** The guard refuses what another webhook makes of the operator's write, and no write of a user's. */
const refusesInjection = ({ isInjectionRefused, problem }: Failed, earlier: Failure | undefined): boolean =>
  (isInjectionRefused ?? earlier?.refusesInjection) === true && !problem.includes(guardAnswer);

/** Returns whether the webhook missed it. A workload that must wait for its turn is decided about once before. */
export const isMissed = ({ expectedUnder }: ObservedWorkload, policy: NamespacePolicy, result: ChangeResult): boolean =>
  expectedUnder === policy &&
  (result.kind === 'waiting'
    ? result.observation.kind === 'due' && !hasInjection(result.workload)
    : result.kind === 'written' && result.change === 'added');

/** A write soon after another writer undid the last one repeats it. No other writer can undo a revert. */
function writeAfter(outcome: Outcome, made: Written): Write | undefined {
  const { before, policy, now } = outcome;
  if (findRevert(made.workload.metadata) !== undefined) return undefined;
  const { at = -Infinity, repeats: earlier = 0 } = before.write?.policy === policy ? before.write : {};
  // The watch may show too late that the last write was undone.
  const isAgain = mayBeUndone(before, policy) || (made.change === 'added' && now - at < CONTESTED_MS);
  const repeats = isAgain ? earlier + 1 : 0;
  return shown({ policy, at: now, touchedAt: undefined, repeats }, outcome, made);
}

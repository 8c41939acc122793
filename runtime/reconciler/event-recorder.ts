import { isBlocked, type Decision } from '../injection/decision.ts';
import { isInstrumented, type ObservedWorkload } from './observed.ts';
import { parseStamp } from '../injection/stamp.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { cannot, changed, contested, policyAge, refused, reverted } from './describe-events.ts';
import type { ChangeResult, Failed, Written } from './facts.ts';
import { revertOf } from '../injection/revert.ts';
import { contestDelayMs } from './plan-workload.ts';
import type { Term } from './term.ts';

/**
 * Tells of each change once, by an event on the workload. An event's name follows from the change itself, so that telling it
 * again after a crash finds it there; what an earlier leader had the time to tell is not told again at all (docs/contributing/adr/0002).
 */
export class EventRecorder {
  /** The stamps of injections of whose end was told, by uid. */
  private readonly revertsTold = new Map<string, string | undefined>();

  constructor(private readonly term: Term) {}

  /** A change stands in the workload's stamp, whoever made it: it is told unless it is known to be told. */
  stamped(workload: ObservedWorkload, policy: NamespacePolicy): void {
    if (workload.reported === workload.stamp) return;
    const stamp = parseStamp(workload.stamp);
    if (stamp === undefined) return;
    if (stamp.change === 'adopted' || stamp.at < this.term.since)
      this.term.store.note(workload, { reported: workload.stamp });
    else this.changed(workload, policy, stamp.change);
  }

  /** The watch shows a workload whose stamp somebody else has changed: the webhook, most likely. */
  seen(workload: ObservedWorkload, before: ObservedWorkload | undefined, policy: NamespacePolicy): void {
    if (workload.stamp === before?.stamp) return;
    if (workload.stamp !== undefined) return this.stamped(workload, policy);
    if (before !== undefined && !isInstrumented(workload)) this.removed(before, policy);
  }

  /** An instrumentation is gone; `before` is the workload as it still had it. */
  removed(before: ObservedWorkload, policy: NamespacePolicy): void {
    this.changed(before, policy, 'removed');
  }

  /** An injection is about to be reverted. Says whether that is told by now: the evidence goes with the pods. */
  reverting(workload: ObservedWorkload): boolean {
    const { uid, stamp, state } = workload;
    if (this.revertsTold.get(uid) === stamp || state?.kind !== 'reverting') return true;
    this.revertsTold.set(uid, stamp);
    this.term.events.add(reverted(workload, state.evidence));
    return false;
  }

  /** What came of a change of ours; `before` is the workload as it was planned. */
  result(workload: ObservedWorkload, before: ObservedWorkload, policy: NamespacePolicy, result: ChangeResult): void {
    const { events } = this.term;
    if (result.kind === 'written') return this.written(workload, before, policy, result);
    // A write whose answer was lost shows here, and nobody has told of it: its echo in the watch was left to the answer.
    this.seen(workload, before, policy);
    const said = this.said(workload, before, policy, result);
    if (said !== undefined) events.add(said);
  }

  /** What is to be told where nothing was written of an injection. */
  private said(workload: ObservedWorkload, before: ObservedWorkload, policy: NamespacePolicy, result: ChangeResult) {
    switch (result.kind) {
      case 'left':
        return isBlocked(result.decision) && this.isNews(workload, policy)
          ? cannot(workload, policy, result.decision)
          : undefined;
      case 'failed':
        // Told once for each refusal, however often it is tried.
        return isNewRefusal(before, result) ? refused(workload, policy, result) : undefined;
      case 'gone':
      case 'waiting':
      case 'outdated':
      case 'written':
        return undefined;
    }
  }

  private written(
    workload: ObservedWorkload,
    before: ObservedWorkload,
    policy: NamespacePolicy,
    { change, decision }: Written,
  ): void {
    // A revert was told before it was written.
    if (change === 'none' || revertOf(decision.workload.metadata) !== undefined) return;
    if (change === 'removed') this.removed(before, policy);
    else this.changed(workload, policy, change, exceptionsOf(decision));
    const repeats = workload.write?.repeats ?? 0;
    if (repeats > 0) this.term.events.add(contested(workload, change, repeats, contestDelayMs(repeats)));
  }

  private changed(
    workload: ObservedWorkload,
    policy: NamespacePolicy,
    change: 'added' | 'updated' | 'removed',
    exceptions: readonly string[] = [],
  ): void {
    this.term.store.note(workload, { reported: change === 'removed' ? undefined : workload.stamp });
    this.term.events.add(changed(workload, policy, change, exceptions));
  }

  /** Whether the workload or its policy came after an earlier leader had the time to tell of it. */
  private isNews({ createdAt }: ObservedWorkload, policy: NamespacePolicy): boolean {
    const { since } = this.term;
    return !(Date.parse(createdAt) < Date.parse(since) && policyAge(policy) < since);
  }
}

const isNewRefusal = ({ failure }: ObservedWorkload, { isRefused, problem }: Failed): boolean =>
  isRefused && failure?.problem !== problem;

const exceptionsOf = (decision: Decision): readonly string[] =>
  decision.action === 'inject' ? decision.leftAlone : [];

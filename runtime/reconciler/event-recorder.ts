import { isBlocked, type Decision } from '../injection/decision.ts';
import { findRevert, parseRevert } from '../injection/revert.ts';
import { injectionStatusText, isReverted, isSameChange, parseInjectionStatus } from '../injection/injection-status.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { cannot, changed, contested, refused, reverted } from './describe-events.ts';
import type { ChangeResult, Written } from './facts.ts';
import { isInstrumented, type Facts, type ObservedWorkload } from './observed.ts';
import { contestDelayMs } from './plan-workload.ts';
import type { EventQueue } from '../kubernetes/resources/event-queue.ts';
import { isOlder } from '../kubernetes/resources/objects.ts';
import { digest } from '../wording/digest.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

/** Names each event by its change, so a second report finds the first (docs/contributing/adr/0002). */
export class EventRecorder {
  constructor(private readonly term: Pick<ReconcilerContext, 'since'> & { readonly events: Pick<EventQueue, 'add'> }) {}

  /** `activeAt`: when a leader found the `Lumigo` active. It has reported everything from before `since`. */
  begin(workload: ObservedWorkload, policy: NamespacePolicy, activeAt = this.term.since): Facts {
    this.withInjectionStatus(workload, policy);
    const isOld = policy.kind === 'active' && [workload.createdAt, activeAt].every((time) => time < this.term.since);
    return isOld ? { lastDecision: { policy } } : {};
  }

  withInjectionStatus(workload: ObservedWorkload, policy: NamespacePolicy): void {
    const { since, events } = this.term;
    const revert = parseRevert(workload.injectionStatus);
    if (revert !== undefined && revert.at >= since) events.add(reverted(workload, revert));
    const injectionStatus = parseInjectionStatus(workload.injectionStatus);
    if (injectionStatus === undefined || injectionStatus.change === 'adopted' || injectionStatus.at < since) return;
    events.add(changed(workload, policy, injectionStatus.change));
  }

  /** `by`: most often the webhook made what the leader did not. Undefined: the answer to the leader's write was lost. */
  seen(workload: ObservedWorkload, before: ObservedWorkload | undefined, policy: NamespacePolicy, by?: 'webhook') {
    if (isSameChange(workload.injectionStatus, before?.injectionStatus)) return;
    // A list that began before a change shows a workload without it.
    if (before !== undefined && isOlder(workload.resourceVersion, before.resourceVersion)) return;
    if (workload.injectionStatus !== undefined) this.withInjectionStatus(workload, policy);
    else if (before !== undefined && !isReverted(before.injectionStatus) && !isInstrumented(workload))
      this.term.events.add(changed(before, policy, 'removed', by));
  }

  result(workload: ObservedWorkload, before: ObservedWorkload, policy: NamespacePolicy, result: ChangeResult): void {
    if (result.kind === 'written') return this.written(workload, before, policy, result);
    // Covers a write whose answer was lost, because the watch leaves the report to the answer.
    this.seen(workload, before, policy, result.kind === 'failed' ? undefined : 'webhook');
    if (result.kind === 'left' && isBlocked(result.decision) && isNews(before, policy, result.decision))
      this.term.events.add(cannot(workload, policy, result.decision));
    if (result.kind === 'failed' && result.isRefused && before.failure?.problem !== result.problem)
      this.term.events.add(refused(workload, policy, result));
  }

  private written(workload: ObservedWorkload, before: ObservedWorkload, policy: NamespacePolicy, made: Written): void {
    const { workload: after, change } = made;
    const revert = change === 'none' ? undefined : findRevert(after.metadata);
    if (revert !== undefined) return this.term.events.add(reverted(workload, revert));
    // The watch may show a later change already, for example of the next leader.
    const done = { ...workload, injectionStatus: injectionStatusText(after.metadata) };
    if (change !== 'none') this.term.events.add(changed(change === 'removed' ? before : done, policy, change));
    const repeats = workload.write?.repeats ?? 0;
    if (repeats > 0) this.term.events.add(contested(workload, change, repeats, contestDelayMs(repeats)));
  }
}

function isNews({ lastDecision: last }: ObservedWorkload, policy: NamespacePolicy, now: Decision): boolean {
  if (last?.policy !== policy) return true;
  return last.message !== undefined && (last.tried !== now.tried || last.message !== digest(now.message));
}

import type { Decision } from '../injection/decision.ts';
import { isInstrumented, type ObservedWorkload } from './observed.ts';
import { parseStamp } from '../injection/stamp.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { cannot, changed, contested, policyAge, refused, type InstrumentationEvent } from './describe-events.ts';
import type { Change, ChangeResult } from './change-workload.ts';
import { contestDelayMs } from './plan-workload.ts';

export interface RecorderOptions {
  /** Queues an event; it is posted beside the work. */
  readonly post: (workload: ObservedWorkload, event: InstrumentationEvent) => void;
  /** Notes which stamp is told of. */
  readonly onTold: (workload: ObservedWorkload, stamp: string | undefined) => void;
  /** What is stamped before this time (ISO 8601) was told by an earlier leader. */
  readonly since: string;
}

/**
 * Tells of each change once, by an event on the workload. An event's name follows from the change itself, so that telling it
 * again after a crash finds it there; what an earlier leader had the time to tell is not told again at all (docs/adr/0002).
 */
export class EventRecorder {
  readonly #options: RecorderOptions;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  /** A change stands in the workload's stamp, whoever made it: it is told unless it is known to be told. */
  stamped(workload: ObservedWorkload, policy: NamespacePolicy): void {
    const stamp = parseStamp(workload.stamp);
    if (stamp === undefined || workload.told === workload.stamp) return;
    if (stamp.change === 'adopted' || stamp.at < this.#options.since)
      return this.#options.onTold(workload, workload.stamp);
    this.#changed(workload, policy, stamp.change);
  }

  /** The watch shows a workload whose stamp somebody else has changed: the webhook, most likely. */
  seen(workload: ObservedWorkload, before: ObservedWorkload | undefined, policy: NamespacePolicy): void {
    if (workload.stamp === before?.stamp) return;
    if (workload.stamp !== undefined) return this.stamped(workload, policy);
    if (before !== undefined && !isInstrumented(workload)) this.removed(before, policy);
  }

  /** An instrumentation is gone; `before` is the workload as it still had it. */
  removed(before: ObservedWorkload, policy: NamespacePolicy): void {
    this.#changed(before, policy, 'removed');
  }

  /** What came of a change of ours; `before` is the workload as it was planned. */
  result(workload: ObservedWorkload, before: ObservedWorkload, policy: NamespacePolicy, result: ChangeResult): void {
    if (result.kind === 'written') return this.#written(workload, before, policy, result);
    // A write whose answer was lost shows here: it stands in the stamp, and nobody has told of it.
    this.stamped(workload, policy);
    if (result.kind === 'left' && result.decision.blocked === true)
      this.#cannot(workload, policy, result.decision.code, result.decision.message);
    // Told once for each refusal, however often it is tried.
    if (result.kind === 'failed' && result.isRefused && before.failure?.problem !== result.problem)
      this.#options.post(workload, refused(workload, policy, result.change, result.problem));
  }

  #written(
    workload: ObservedWorkload,
    before: ObservedWorkload,
    policy: NamespacePolicy,
    { change, decision }: ChangeResult & { readonly kind: 'written' },
  ): void {
    if (change === 'none') return;
    if (change === 'removed') this.removed(before, policy);
    else this.#changed(workload, policy, change, exceptionsOf(decision));
    this.#contested(workload, change);
  }

  #changed(
    workload: ObservedWorkload,
    policy: NamespacePolicy,
    change: 'added' | 'updated' | 'removed',
    exceptions: readonly string[] = [],
  ): void {
    this.#options.onTold(workload, change === 'removed' ? undefined : workload.stamp);
    this.#options.post(workload, changed(workload, policy, change, exceptions));
  }

  #cannot(workload: ObservedWorkload, policy: NamespacePolicy, code: string, message: string): void {
    const { since } = this.#options;
    if (Date.parse(workload.createdAt) < Date.parse(since) && policyAge(policy) < since) return;
    this.#options.post(workload, cannot(workload, policy, code, message));
  }

  #contested(workload: ObservedWorkload, change: Change): void {
    const repeats = workload.write?.repeats ?? 0;
    if (repeats > 0)
      this.#options.post(workload, contested(workload, change, { repeats, nextMs: contestDelayMs(repeats) }));
  }
}

const exceptionsOf = (decision: Decision): string[] =>
  decision.action === 'inject' ? decision.leftAlone.map(({ reason }) => reason) : [];

import type { NamespacePolicy } from '../injection/types.ts';
import { isInstrumented, type ObservedWorkload } from './observed.ts';
import { isContested, planWorkload, type Situation } from './plan-workload.ts';

/** A workload to be read whole, decided upon and, where it differs, written: under this policy and no other. */
export interface WorkloadChange {
  readonly workload: ObservedWorkload;
  readonly policy: NamespacePolicy;
  readonly reason: string;
}

/** What people are told of a namespace, in numbers of workloads. */
export interface Progress {
  /** Wait for their turn, or are being changed. */
  readonly pending: number;
  /** Could not be changed, and are tried again. */
  readonly failed: number;
  /** Are given time, because another writer undoes each change. */
  readonly contested: number;
  readonly instrumented: number;
  /** Send their telemetry to another installation than this one. */
  readonly elsewhere: number;
}

export interface WorkloadsPlan {
  readonly changes: readonly WorkloadChange[];
  /** All for which something is left to do, now or later. */
  readonly waiting: readonly ObservedWorkload[];
  readonly confirmGone: boolean;
  readonly progress: Progress;
  readonly wakeAt: number;
}

/** The steps of all workloads of a namespace, and what they amount to. */
export function planWorkloads(workloads: Iterable<ObservedWorkload>, situation: Situation, now: number): WorkloadsPlan {
  const { policy } = situation;
  const changes: WorkloadChange[] = [];
  const waiting: ObservedWorkload[] = [];
  const progress = { pending: 0, failed: 0, contested: 0, instrumented: 0, elsewhere: 0 };
  let [confirmGone, wakeAt] = [false, Infinity];
  for (const workload of workloads) {
    countIn(progress, workload);
    const step = planWorkload(workload, situation, now);
    if (step.do === 'nothing') continue;
    waiting.push(workload);
    progress[kindOfWait(workload, policy)] += 1;
    if (step.do === 'change') changes.push({ workload, policy, reason: step.reason });
    else if (step.do === 'confirm') confirmGone = true;
    else if (step.do === 'wait') wakeAt = Math.min(wakeAt, step.until ?? Infinity);
  }
  return { changes, waiting, confirmGone, progress, wakeAt };
}

function countIn(progress: { instrumented: number; elsewhere: number }, workload: ObservedWorkload): void {
  if (!isInstrumented(workload) || workload.deleting) return;
  progress.instrumented += 1;
  if (workload.elsewhere !== undefined) progress.elsewhere += 1;
}

function kindOfWait(workload: ObservedWorkload, policy: NamespacePolicy): 'pending' | 'failed' | 'contested' {
  if (workload.failure?.policy === policy) return 'failed';
  return isContested(workload, policy) ? 'contested' : 'pending';
}

/** When a workload that refuses will have refused for too long, by the monotonic clock; Infinity for one that does not. */
export function refusingAt({ failure }: ObservedWorkload, policy: NamespacePolicy, deadlineMs: number): number {
  return failure?.policy === policy ? (failure.refusedSince ?? Infinity) + deadlineMs : Infinity;
}

/** Whether a workload has refused for so long, or is put back by another writer so often, that nobody waits for it any longer. */
export function isRefusing(
  workload: ObservedWorkload,
  policy: NamespacePolicy,
  deadlineMs: number,
  now: number,
): boolean {
  if (refusingAt(workload, policy, deadlineMs) <= now) return true;
  return workload.failure?.policy !== policy && isContested(workload, policy) && (workload.write?.repeats ?? 0) > 0;
}

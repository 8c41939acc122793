import type { NamespacePolicy } from '../injection/types.ts';
import { isInstrumented, type ObservedNamespace, type ObservedWorkload } from './observed.ts';
import { isContested, planWorkload } from './plan-workload.ts';

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
  /** Stay as they are, since they are too large to be decided about. */
  readonly tooLarge: number;
}

export const noProgress: Progress = {
  ...{ pending: 0, failed: 0, contested: 0, instrumented: 0, elsewhere: 0, tooLarge: 0 },
};

export interface WorkloadsPlan {
  readonly changes: readonly WorkloadChange[];
  /** All for which something is left to do, now or later. */
  readonly waiting: readonly ObservedWorkload[];
  /** Whether the API server has to be asked if there is really no Lumigo. */
  readonly confirmGone: boolean;
  readonly progress: Progress;
  /** When to plan again should nothing be seen before, by the monotonic clock; Infinity: never. */
  readonly wakeAt: number;
}

/** The steps of all workloads of a namespace, and what they amount to. */
export function planWorkloads(observed: ObservedNamespace, now: number): WorkloadsPlan {
  const { policy } = observed;
  const changes: WorkloadChange[] = [];
  const waiting: ObservedWorkload[] = [];
  const progress = { ...noProgress };
  let [confirmGone, wakeAt] = [false, Infinity];
  for (const workload of observed.workloads) {
    count(workload, policy, progress);
    const step = planWorkload(workload, observed, now);
    if (step.do === 'nothing') continue;
    waiting.push(workload);
    progress[kindOfWait(workload, policy)] += 1;
    if (step.do === 'change') changes.push({ workload, policy, reason: step.reason });
    else if (step.do === 'confirm') confirmGone = true;
    else if (step.do === 'wait') wakeAt = Math.min(wakeAt, step.until ?? Infinity);
  }
  return { changes, waiting, confirmGone, progress, wakeAt };
}

/** Adds what a workload is, whether or not anything is left to do for it. */
function count(
  workload: ObservedWorkload,
  policy: NamespacePolicy,
  progress: { -readonly [K in keyof Progress]: number },
) {
  const { deleting, elsewhere, tooLarge, settled } = workload;
  if (deleting) return;
  if (isInstrumented(workload)) {
    progress.instrumented += 1;
    if (elsewhere !== undefined) progress.elsewhere += 1;
  }
  if (tooLarge && settled === policy) progress.tooLarge += 1;
}

function kindOfWait(workload: ObservedWorkload, policy: NamespacePolicy): 'pending' | 'failed' | 'contested' {
  if (workload.failure?.policy === policy) return 'failed';
  return isContested(workload, policy) ? 'contested' : 'pending';
}

import type { NamespacePolicy } from '../injection/types.ts';
import type { Rollout } from '../rollout/rollout.ts';
import { isInstrumented, type Now, type ObservedNamespace, type ObservedWorkload } from './observed.ts';
import { nothingOnTheWay, planRollout, type OnTheWay, type RolloutPlan } from './plan-rollout.ts';
import type { Task } from './rollout-step.ts';
import { failedLately, isContested, planWorkload } from './plan-workload.ts';

/** A workload to be read whole, decided upon and, where it differs, written: under this policy and no other. */
export interface WorkloadChange {
  readonly workload: ObservedWorkload;
  readonly policy: NamespacePolicy;
  readonly reason: string;
  /** Left out: what the decision about it asks for, if it need not wait for its turn. */
  readonly task?: Task;
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
  /** Run the injection of another version of the operator. */
  readonly older: number;
}

export const noProgress: Progress = {
  ...{ pending: 0, failed: 0, contested: 0, instrumented: 0, elsewhere: 0, tooLarge: 0, older: 0 },
};

export interface WorkloadsPlan {
  readonly changes: readonly WorkloadChange[];
  /** All for which something is left to do, now or later. */
  readonly waiting: readonly ObservedWorkload[];
  /** Whether the API server has to be asked if there is really no Lumigo. */
  readonly confirmGone: boolean;
  readonly progress: Progress;
  readonly rollout: RolloutPlan;
  /** When to plan again should nothing be seen before, by the monotonic clock; Infinity: never. */
  readonly wakeAt: number;
}

/** The steps of all workloads of a namespace, and what they amount to. */
export function planWorkloads(observed: ObservedNamespace, now: Now): WorkloadsPlan {
  const { policy } = observed;
  const changes: WorkloadChange[] = [];
  const waiting: ObservedWorkload[] = [];
  const progress = { ...noProgress };
  const way = nothingOnTheWay();
  let [confirmGone, wakeAt] = [false, Infinity];
  for (const workload of observed.workloads) {
    count(workload, observed, progress);
    const step = planWorkload(workload, observed, now.ms);
    sort(workload, step.do, policy, way);
    if (step.do === 'nothing' || step.do === 'queue' || step.do === 'watch') continue;
    waiting.push(workload);
    progress[kindOfWait(workload, policy)] += 1;
    if (step.do === 'change') changes.push({ workload, policy, reason: step.reason });
    else if (step.do === 'confirm') confirmGone = true;
    else wakeAt = Math.min(wakeAt, step.until ?? Infinity);
  }
  const rollout = planRollout(way, observed, now);
  // What failed a moment ago wakes this plan by itself.
  const steps = rollout.steps.filter(({ workload }) => failedLately(workload, policy, now.ms) === undefined);
  changes.push(...steps.map((step) => ({ ...step, policy })));
  return { changes, waiting, confirmGone, progress, rollout, wakeAt: Math.min(wakeAt, rollout.wakeAt) };
}

/** Puts a workload where it belongs among those on their way. */
function sort(
  workload: ObservedWorkload,
  step: ReturnType<typeof planWorkload>['do'],
  policy: NamespacePolicy,
  way: OnTheWay,
): void {
  const { rollout, attempt, deleting } = workload;
  if (deleting) return;
  if (rollout?.policy !== policy) way.unknown += step === 'change' || attempt !== undefined ? 1 : 0;
  else if (attempt !== undefined) way.busy += 1;
  else add(workload, rollout, step, way);
}

function add(
  workload: ObservedWorkload,
  rollout: Rollout,
  step: ReturnType<typeof planWorkload>['do'],
  way: OnTheWay,
): void {
  switch (rollout.state) {
    case 'queued':
      // One that is due to be checked again, or is given time after a failure, is not in the queue.
      if (step === 'queue') way.queued.push({ ...workload, rollout });
      break;
    case 'trial':
      way.trials.push({ ...workload, rollout });
      break;
    case 'reverted':
      way.reverted.push({ ...workload, rollout });
      break;
    case 'proven':
    case 'left':
      way[rollout.state] += 1;
  }
}

/** Adds what a workload is, whether or not anything is left to do for it. */
function count(
  { deleting, elsewhere, tooLarge, settled, label }: ObservedWorkload,
  { policy, rollout }: ObservedNamespace,
  progress: { -readonly [K in keyof Progress]: number },
) {
  if (deleting) return;
  if (isInstrumented({ label })) {
    progress.instrumented += 1;
    progress.elsewhere += elsewhere === undefined ? 0 : 1;
    progress.older += label === rollout.settings.label ? 0 : 1;
  }
  if (tooLarge && settled === policy) progress.tooLarge += 1;
}

function kindOfWait(workload: ObservedWorkload, policy: NamespacePolicy): 'pending' | 'failed' | 'contested' {
  if (workload.failure?.policy === policy) return 'failed';
  return isContested(workload, policy) ? 'contested' : 'pending';
}

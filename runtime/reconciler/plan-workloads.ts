import type { NamespacePolicy } from '../injection/types.ts';
import { isInstrumented, type Now, type ObservedNamespace, type ObservedWorkload } from './observed.ts';
import { planRollout, type RolloutPlan, type Task } from './plan-rollout.ts';
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
  const progress = { ...noProgress };
  const planned = [...observed.workloads].map((workload) => {
    count(workload, observed, progress);
    return { workload, step: planWorkload(workload, observed, now.ms) };
  });
  const waiting = planned.filter(({ step }) => step.do !== 'nothing');
  for (const { workload } of waiting) progress[kindOfWait(workload, policy)] += 1;
  const isFree = ({ workload, step }: Planned): boolean =>
    step.do === 'nothing' && workload.attempt === undefined && failedLately(workload, policy, now.ms) === undefined;
  const isStated = ({ workload }: Planned): boolean => workload.state !== undefined && !workload.deleting;
  const way = {
    states: isRolledOut(policy) ? planned.filter(isStated).map(({ workload }) => workload) : [],
    free: new Set(planned.filter(isFree).map(({ workload }) => workload.uid)),
    unknown: waiting.filter(({ workload, step }) => step.do === 'change' || workload.attempt !== undefined).length,
  };
  const rollout = planRollout(way, observed.rollout, now);
  const changes = waiting.flatMap(({ workload, step }) =>
    step.do === 'change' ? [{ workload, reason: step.reason }] : [],
  );
  return {
    changes: [...changes, ...rollout.steps].map((step) => ({ ...step, policy })),
    waiting: waiting.map(({ workload }) => workload),
    confirmGone: waiting.some(({ step }) => step.do === 'confirm'),
    progress,
    rollout,
    wakeAt: Math.min(rollout.wakeAt, ...waiting.map(({ step }) => step.until ?? Infinity)),
  };
}

interface Planned {
  readonly workload: ObservedWorkload;
  readonly step: ReturnType<typeof planWorkload>;
}

/** Elsewhere nothing is injected, and so nothing is on its way. */
const isRolledOut = ({ state }: NamespacePolicy): boolean => state === 'active' || state === 'none';

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

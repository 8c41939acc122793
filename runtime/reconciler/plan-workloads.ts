import type { NamespacePolicy } from '../injection/types.ts';
import { isInstrumented, least, type Now, type ObservedWorkload } from './observed.ts';
import { planRollout, type RolloutPlan, type WorkloadChange, type WorkloadsInput } from './plan-rollout.ts';
import { isContested, planWorkload, retryAt } from './plan-workload.ts';

export type Progress = Readonly<typeof noProgress & { firstFailed?: ObservedWorkload | undefined }>;
export const noProgress = {
  pending: 0,
  failed: 0,
  contested: 0,
  rechecked: 0,
  instrumented: 0,
  elsewhere: 0,
  tooLarge: 0,
  older: 0,
};

export interface WorkloadsPlan {
  readonly changes: readonly WorkloadChange[];
  readonly waiting: readonly ObservedWorkload[];
  readonly progress: Progress;
  readonly rollout: RolloutPlan;
  /** The monotonic clock; Infinity for no time. */
  readonly wakeAt: number;
}

export function planWorkloads(observed: WorkloadsInput, now: Now): WorkloadsPlan {
  const { policy } = observed;
  const progress = { ...noProgress };
  const planned = [...observed.workloads].map((workload) => {
    count(workload, observed, progress);
    return { workload, ...planWorkload(workload, policy, now.ms) };
  });
  const waiting = planned.filter((step) => step.kind !== 'nothing');
  for (const { workload } of waiting) progress[kindOfWait(workload, policy)] += 1;
  const firstFailed = waiting.find(({ workload }) => workload.failure?.policy === policy)?.workload;
  const changes = waiting.filter((step) => step.kind === 'change');
  // A Job is never changed, so no other workload waits for its check.
  const isAhead = ({ workload: { kind, inFlight }, kind: step }: Planned): boolean =>
    kind.mutable && (step === 'change' || inFlight !== undefined);
  const isFree = ({ workload, kind: step }: Planned): boolean =>
    (step === 'nothing' || isContested(workload, policy)) &&
    workload.inFlight === undefined &&
    retryAt(workload, policy) <= now.ms;
  const withContest = ({ workload, kind: step }: Planned): ObservedWorkload =>
    step === 'wait' && isContested(workload, policy) ? { ...workload, state: workload.state ?? contested } : workload;
  const mayInject = ['active', 'none'].includes(policy.kind);
  // Under another policy, no injection is written. Those that were written are still judged, and reverts count.
  const isStated = ({ state, deleting }: ObservedWorkload): boolean =>
    state !== undefined &&
    !deleting &&
    (mayInject || !('risk' in state) || (state.kind === 'reverted' && state.wakeAt > now.ms));
  const way = {
    states: planned.map(withContest).filter(isStated),
    free: new Set(planned.filter(isFree).map(({ workload }) => workload.uid)),
    unknown: waiting.filter(isAhead).length,
  };
  const rollout = planRollout(way, observed, now);
  const waits = waiting.map((step) => (step.kind === 'wait' ? step.until : Infinity));
  // A revert and a reading are retried also while a change waits for longer, or is not wanted.
  const retries = planned.map(({ workload }) => retryAt(workload, policy)).filter((at) => at > now.ms);
  return {
    changes: [...changes.map(({ workload, reason }) => ({ workload, policy, reason })), ...rollout.changes],
    waiting: waiting.map(({ workload }) => workload),
    progress: { ...progress, firstFailed },
    rollout,
    wakeAt: least([rollout.wakeAt, ...retries, ...waits]),
  };
}

type Planned = { readonly workload: ObservedWorkload } & ReturnType<typeof planWorkload>;

const asLast = { risk: { rank: 4, pods: 0 }, attempt: 0, wakeAt: Infinity } as const;
/** Another writer undid its injection, so no pod shows how it fares. */
const contested: ObservedWorkload['state'] = { kind: 'blocked', reason: 'Contested', ...asLast };

function count(workload: ObservedWorkload, { policy, rollout }: WorkloadsInput, progress: typeof noProgress) {
  const { deleting, elsewhere, lastDecision, checkedUnder, label } = workload;
  if (deleting) return;
  if (isInstrumented({ label })) {
    progress.instrumented += 1;
    progress.elsewhere += elsewhere === undefined ? 0 : 1;
    progress.older += label === rollout.settings.label ? 0 : 1;
  }
  if (lastDecision?.code === 'too-large' && checkedUnder === policy) progress.tooLarge += 1;
}

/** `rechecked`: a user changed it, and most often there is nothing to do. No status says that it waits. */
function kindOfWait(workload: ObservedWorkload, policy: NamespacePolicy): keyof typeof noProgress {
  if (workload.failure?.policy === policy) return 'failed';
  if (isContested(workload, policy)) return 'contested';
  return workload.checkedBefore === policy ? 'rechecked' : 'pending';
}

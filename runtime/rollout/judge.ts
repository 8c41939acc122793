import type { Completion } from './completion.ts';
import { shown, type Evidence } from './evidence.ts';
import {
  idle,
  LATE_MS,
  LOOK_MS,
  type JudgeSettings,
  type Probation,
  type Transition,
  type WorkloadState,
} from './workload-state.ts';

/** A workload whose injection is judged. */
export type OnProbation = Extract<WorkloadState, Probation>;
type Progressing = Completion & { readonly kind: 'progressing' };

/** A whole workload, as it was read. `unchangedSince`: when the watch last reported a change of it. */
interface Read {
  readonly completion: Completion;
  readonly unchangedSince: number;
}

/** Returns what a workload's own status says of its injection: Kubernetes is the judge. */
export function judge(state: OnProbation, seen: Read, now: number, settings: JudgeSettings): Transition {
  const { completion } = seen;
  switch (completion.kind) {
    case 'no-pods':
      return { state: idle };
    case 'complete':
      return { state: complete(state, seen.unchangedSince, now, settings) };
    case 'paused':
      // The time of a pause does not count against it.
      return { state: rolling(state, { ...state.progress, at: now }, now) };
    case 'progressing':
      return incomplete(state, completion, now, settings);
  }
}

const rolling = ({ attempt }: Probation, progress: Probation['progress'], now: number): OnProbation => ({
  ...{ kind: 'rolling', progress, attempt, wakeAt: now + LOOK_MS },
});

/** If the watch has reported no change since then, the status was complete all the time. */
function complete(state: OnProbation, unchangedSince: number, now: number, { soakMs }: JudgeSettings): WorkloadState {
  const { progress, attempt } = state;
  if (state.kind === 'verified') return { ...state, look: undefined, wakeAt: state.until };
  const since = state.kind === 'soaking' ? state.since : Math.min(now, Math.max(unchangedSince, progress.at));
  const until = now + LATE_MS;
  return since + soakMs > now
    ? { kind: 'soaking', since, progress, attempt, wakeAt: since + soakMs }
    : { kind: 'verified', until, progress, attempt, wakeAt: until };
}

function incomplete(state: OnProbation, completion: Progressing, now: number, settings: JudgeSettings): Transition {
  const { available, refused } = completion;
  if (state.kind === 'verified') return { state: { ...state, wakeAt: now + LOOK_MS }, action: 'look-at-pods' };
  if (available > state.progress.available) return { state: rolling(state, { available, at: now }, now) };
  // A workload that was complete and loses a pod is judged anew from now on.
  const progress = state.kind === 'soaking' ? { available, at: now } : state.progress;
  const slow: OnProbation = { ...rolling(state, progress, now), look: state.look };
  const stoodMs = now - progress.at;
  if (stoodMs >= settings.deadlineMs) return revert(slow, notAvailable(completion, settings));
  if (refused !== undefined) return weigh(slow, refusal(refused), now);
  return stoodMs >= LOOK_MS ? { state: slow, action: 'look-at-pods' } : { state: slow };
}

/** Two looks that agree convict. A look that shows nothing clears the one before. */
export function weigh(state: OnProbation, evidence: Evidence | undefined, now: number): Transition {
  const { look } = state;
  if (evidence === undefined) return { state: { ...state, look: undefined } };
  if (look === undefined || look.evidence.cause !== evidence.cause)
    return { state: { ...state, look: { evidence, at: now }, wakeAt: now + LOOK_MS } };
  return now - look.at >= LOOK_MS ? revert(state, evidence) : { state };
}

const revert = ({ attempt }: Probation, evidence: Evidence): Transition => ({
  state: { kind: 'reverting', evidence, attempt: attempt + 1 },
  action: 'revert',
});

const refusal = (message: string): Evidence => ({
  cause: 'PodsRefused',
  message: `the API server refuses its pods: ${shown(message)}`,
});

const notAvailable = ({ available, wanted }: Progressing, { deadlineMs }: JudgeSettings): Evidence => ({
  cause: 'NotReady',
  message: `${available} of ${wanted} new pods are available, and no further one became so within ${deadlineMs / 1_000} seconds`,
});

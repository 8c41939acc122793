import type { Completion } from './completion.ts';
import { shown, type Evidence, type Look } from './evidence.ts';
import {
  LATE_MS,
  type JudgeSettings,
  type Observation,
  type Probation,
  type Reading,
  type Transition,
  type WorkloadState,
} from './workload-state.ts';

/** A workload whose injection is judged. */
export type OnProbation = Extract<WorkloadState, Probation>;
type Progressing = Completion & { readonly kind: 'progressing' };
type Status = Observation & { readonly kind: 'status' };

/**
 * Returns the state of a workload with an injection of which this leader knows nothing. If its controller has finished already, others
 * need not wait for it, and late failures still count.
 */
export function meet(
  seen: Reading & { readonly attempt: number },
  now: number,
  settings: JudgeSettings,
): WorkloadState {
  const begun = begin(seen, now, settings);
  const until = now + LATE_MS;
  return begun.kind === 'rolling' && seen.completion.kind === 'complete'
    ? { ...begun, kind: 'verified', until, wakeAt: until }
    : begun;
}

/** Returns the state of a workload whose injection, or another pod template with it, was just written. */
function begin(
  { completion, injector, template, isCurrent, attempt }: Reading & { readonly attempt: number },
  now: number,
  { soakMs }: JudgeSettings,
): OnProbation {
  const probation = { progress: { available: 0, at: now }, template, isCurrent, attempt };
  const untested = { kind: 'untested', ...probation, wakeAt: Infinity } as const;
  if (completion.kind === 'paused') return untested;
  if (completion.kind === 'no-pods') {
    // The first one with this injector is read once by itself: it may have pods then, as a Job has.
    const isTried = injector === 'verified' || injector === 'tried';
    return isTried || completion.isEmpty === true ? untested : { ...untested, isFirst: true, wakeAt: now + soakMs };
  }
  return { kind: 'rolling', ...probation, wakeAt: now + soakMs };
}

/** Returns what a workload's own status says of its injection: Kubernetes is the judge. */
export function judge(state: OnProbation, seen: Status, now: number, settings: JudgeSettings): Transition {
  const { completion } = seen;
  if (seen.template !== state.template) return { state: anew(state, seen, now, settings) };
  switch (completion.kind) {
    case 'no-pods':
      return { state: untested(state), action: 'look-at-pods' };
    case 'paused':
      // The time of a pause does not count against it, and delays no other.
      return { state: untested(state) };
    case 'complete':
      return { state: complete(state, seen.unchangedSince, now, settings) };
    case 'progressing':
      return incomplete(state, completion, now, settings);
  }
}

/** Another pod template is judged by itself, and not at all where the injection had been verified: then the change is its user's. */
function anew(state: OnProbation, seen: Status, now: number, settings: JudgeSettings): WorkloadState {
  if (state.kind === 'verified') return { ...state, template: seen.template, until: now, wakeAt: Infinity };
  const begun = begin({ ...seen, attempt: state.attempt }, now, settings);
  return state.isDue === true ? { ...begun, isDue: true } : begun;
}

const kept = ({ progress, template, isCurrent, attempt, isDue }: Probation) => ({
  ...{ progress, template, isCurrent, attempt },
  ...(isDue === undefined ? {} : { isDue }),
});

const untested = (state: OnProbation): OnProbation => ({
  ...{ kind: 'untested', ...kept(state), look: state.look, wakeAt: Infinity },
});

/** If the watch has reported no change since then, the status was complete all the time. */
function complete(state: OnProbation, unchangedSince: number, now: number, { soakMs }: JudgeSettings): WorkloadState {
  if (state.kind === 'verified') return { ...state, look: undefined, wakeAt: state.until };
  const { progress } = state;
  const since = state.kind === 'soaking' ? state.since : Math.min(now, Math.max(unchangedSince, progress.at));
  const until = now + LATE_MS;
  return since + soakMs > now
    ? { kind: 'soaking', since, ...kept(state), wakeAt: since + soakMs }
    : { kind: 'verified', until, ...kept(state), wakeAt: until };
}

function incomplete(state: OnProbation, completion: Progressing, now: number, settings: JudgeSettings): Transition {
  const { available } = completion;
  const wakeAt = now + settings.lookMs;
  if (state.kind === 'verified') return withLook({ ...state, wakeAt }, available);
  // A workload that was complete, or had no pods, and is neither now is judged anew from now on.
  const isNew = state.kind !== 'rolling' || available > state.progress.available;
  const progress = isNew ? { available, at: now } : state.progress;
  const look = isNew ? undefined : state.look;
  const slow: OnProbation = { kind: 'rolling', ...kept(state), progress, look, wakeAt };
  return isNew ? { state: slow } : standstill(slow, completion, now, settings);
}

/** No further pod became available. The cause is the same whether the deadline or a second look comes first. */
function standstill(state: OnProbation, completion: Progressing, now: number, settings: JudgeSettings): Transition {
  const { available, refused } = completion;
  const evidence = refused === undefined ? undefined : refusal(refused);
  const stoodMs = now - state.progress.at;
  if (stoodMs >= settings.deadlineMs)
    return revert(state, evidence ?? state.look?.evidence ?? notAvailable(completion, settings), now);
  if (evidence !== undefined) return weigh(state, { evidence, ran: false }, now, settings);
  return stoodMs >= settings.soakMs ? withLook(state, available) : { state };
}

/** A pod that is available acquits, whatever the others show. */
const withLook = (state: OnProbation, available: number): Transition =>
  available === 0 ? { state, action: 'look-at-pods' } : { state };

/** Two looks that agree convict. A look that shows nothing clears the one before. */
export function weigh(
  state: OnProbation,
  { evidence, ran }: Look,
  now: number,
  { lookMs }: Pick<JudgeSettings, 'lookMs'>,
): Transition {
  const { look } = state;
  if (evidence === undefined) {
    // The status of such a workload never shows more than a pod that got past the injector.
    const isShown = state.kind === 'untested' && ran;
    if (isShown) return { state: { kind: 'verified', until: now, ...kept(state), wakeAt: Infinity } };
    return { state: { ...state, look: undefined } };
  }
  if (look === undefined || look.evidence.cause !== evidence.cause)
    return { state: { ...state, look: { evidence, at: now }, wakeAt: now + lookMs } };
  return now - look.at >= lookMs ? revert(state, evidence, now) : { state: { ...state, wakeAt: look.at + lookMs } };
}

const revert = ({ attempt }: Probation, evidence: Evidence, now: number): Transition => ({
  state: { kind: 'reverting', evidence, attempt: attempt + 1, wakeAt: now },
  action: 'revert',
});

const refusal = (said: string): Evidence => ({
  ...{ cause: 'PodsRefused', message: `the API server refuses its pods: ${shown(said)}` },
});

function notAvailable({ available, wanted }: Progressing, { deadlineMs }: JudgeSettings): Evidence {
  const message = `${available} of ${wanted} new pods are available, and no further one became so within ${deadlineMs / 1_000} seconds`;
  return { cause: 'NotReady', message };
}

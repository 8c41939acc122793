import type { Completion } from './completion.ts';
import { shown, type Evidence, type Look } from './evidence.ts';
import type {
  JudgeSettings,
  Observation,
  Probation,
  Reading,
  Transition,
  Tried,
  WorkloadState,
} from './workload-state.ts';

/** For how long the status of a verified workload is still read. */
export const OVERDUE_MS = 2 * 60_000;

export type OnProbation = Extract<WorkloadState, Probation>;

/** How long a status rests before it is read. A longer soak delays no look. */
export const restMs = ({ soakMs, lookMs }: JudgeSettings): number => Math.min(soakMs, lookMs);

/** Returns whether it is about to show if the injector works. */
export const isJudged = (state: WorkloadState | undefined): boolean =>
  state?.kind === 'rolling' ||
  state?.kind === 'soaking' ||
  (state?.kind === 'untested' && (state.look !== undefined || state.first === 'awaited'));

/** A retry that its soak verified lately shows that the injector runs again. Older pods verify without a soak. */
export const isProof = (state: WorkloadState | undefined, now: number): boolean =>
  state?.kind === 'verified' && state.isCurrent && state.freed === 'retry' && state.until > now;

type Progressing = Completion & { readonly kind: 'progressing' };
type Status = Observation & { readonly kind: 'status' };
type Progress = Probation['progress'];
type Available = { readonly available: number; readonly wanted?: number };

/** No other workload waits for one whose controller has finished before, but late failures still count. */
export function judgeFirst(seen: Reading & Tried, now: number, settings: JudgeSettings): WorkloadState {
  const begun = begin(seen, now, settings);
  const until = now + OVERDUE_MS;
  return begun.kind === 'rolling' && seen.completion.kind === 'complete'
    ? { ...begun, kind: 'verified', until, wakeAt: until }
    : begun;
}

function begin(seen: Reading & Tried, now: number, settings: JudgeSettings): OnProbation {
  const { completion, injector } = seen;
  const wakeAt = now + restMs(settings);
  const probation = kept({ ...seen, progress: { available: 0, at: now } });
  const untested = { kind: 'untested', ...probation, wakeAt: Infinity } as const;
  if (completion.kind === 'paused') return untested;
  if (completion.kind === 'no-pods') {
    // The first one with this injector is read until its deadline, because a Job has its pods later.
    const isTried = injector === 'verified' || injector === 'tried';
    return isTried || completion.isEmpty === true ? untested : { ...untested, first: 'awaited', wakeAt };
  }
  return { kind: 'rolling', ...probation, wakeAt };
}

export function judge(state: OnProbation, seen: Status, now: number, settings: JudgeSettings): Transition {
  const { completion } = seen;
  if (seen.template !== state.template) return { state: restartProbation(state, seen, now, settings) };
  // After an abort, only a revert of the operator's own change surely leads back to the stable pods.
  if (completion.kind === 'progressing' && (completion.isAborted !== true || state.isOwn === true))
    return incomplete(state, completion, now, settings);
  // Without pods, and during a pause, nothing shows that it fails.
  if (state.kind === 'verified') return { state: { ...state, look: undefined, wakeAt: state.until } };
  if (completion.kind === 'complete') return { state: complete(state, { ...seen, completion }, now, settings) };
  if (completion.kind === 'no-pods' && completion.isEmpty !== true)
    return { state: withNoPods(state, seen, now, settings), action: 'look-at-pods' };
  // A pause does not count against the deadline, and delays no other workload. Pods that end show nothing.
  return { state: { kind: 'untested', ...kept(state), wakeAt: Infinity } };
}

/** A new pod template starts again. After a verified injection, the user's change is the cause of any failure. */
function restartProbation(state: OnProbation, seen: Status, now: number, settings: JudgeSettings): WorkloadState {
  const { template } = seen;
  if (state.kind === 'verified') return { ...state, template, isOwn: undefined, until: now, wakeAt: Infinity };
  return begin({ ...seen, attempt: state.attempt, freed: state.freed }, now, settings);
}

function kept({ progress, template, isCurrent, isLocal, isOwn, attempt, freed }: Omit<Probation, 'wakeAt'>) {
  return { progress, template, isCurrent, isLocal, isOwn, attempt, freed };
}

/** Pods may show something later: those of the first until its deadline, and all others as long after each change. */
function withNoPods(state: OnProbation, seen: Status, now: number, { lookMs, deadlineMs }: JudgeSettings): OnProbation {
  const first = state.kind === 'untested' && now - state.progress.at < deadlineMs ? state.first : undefined;
  const wakeAt = first || state.look || now - seen.unchangedSince < deadlineMs ? now + lookMs : Infinity;
  return { kind: 'untested', ...kept(state), first, look: state.look, wakeAt };
}

function complete(
  state: OnProbation,
  { completion, unchangedSince }: Status & { readonly completion: Available },
  now: number,
  settings: JudgeSettings,
): WorkloadState {
  const since = completeSince(state, unchangedSince, now, settings);
  const until = now + OVERDUE_MS;
  if (since + settings.soakMs <= now) return { kind: 'verified', until, ...kept(state), wakeAt: until };
  const progress = further(state.kind === 'untested' ? progressBefore(state, now) : state.progress, completion, since);
  const from = state.kind === 'soaking' && progress === state.progress ? state.from : since;
  return { kind: 'soaking', since, from, ...kept(state), progress, look: state.look, wakeAt: since + settings.soakMs };
}

/** Any change in the watch may have interrupted the soak. Endless changes must not delay its end forever. */
function completeSince(state: OnProbation, unchangedSince: number, now: number, { deadlineMs }: JudgeSettings): number {
  if (state.kind === 'soaking' && now - state.progress.at >= deadlineMs) return state.since;
  return Math.min(now, Math.max(unchangedSince, state.kind === 'soaking' ? state.since : state.progress.at));
}

/** A scale-down also takes available pods away, so one fewer missing pod is progress as well. */
function further(progress: Progress, { available, wanted = available }: Available, at: number): Progress {
  const missing = wanted - available;
  return available > progress.available || missing < (progress.missing ?? 0)
    ? { available: Math.max(available, progress.available), missing, at }
    : progress;
}

function incomplete(state: OnProbation, completion: Progressing, now: number, settings: JudgeSettings): Transition {
  const wakeAt = now + settings.lookMs;
  if (state.kind === 'verified')
    return state.until > now ? withLook({ ...state, wakeAt }, completion.available) : { state };
  const before = progressBefore(state, now);
  const progress = further(before, completion, now);
  const slow: OnProbation = { kind: 'rolling', ...kept(state), progress, wakeAt };
  return progress === before ? standstill({ ...slow, look: state.look }, completion, now, settings) : { state: slow };
}

/** A complete workload stops the clock, which restarts when it has pods. An interrupted soak is no progress. */
function progressBefore({ progress, ...state }: OnProbation, now: number): Progress {
  if (state.kind === 'untested') return { available: -Infinity, at: now };
  return state.kind === 'soaking' ? { ...progress, at: progress.at + now - state.from } : progress;
}

/** Handles a rollout without further available pods. A deadline reports the cause that two looks would. */
function standstill(state: OnProbation, completion: Progressing, now: number, settings: JudgeSettings): Transition {
  const deadlineMs = settings.deadlineMs + (completion.delayMs ?? 0);
  const stoodMs = now - state.progress.at;
  if (stoodMs < deadlineMs) return stoodMs >= restMs(settings) ? withLook(state, completion.available) : { state };
  return revert(state, state.look?.evidence ?? notAvailable(completion, deadlineMs), now);
}

/** One available pod clears the injection, whatever the others show. */
const withLook = (state: OnProbation, available: number): Transition =>
  available === 0 ? { state, action: 'look-at-pods' } : { state };

/** Reverts after two looks that agree. A look without evidence clears the first one. */
export function judgeEvidence(state: OnProbation, seen: Look, now: number, settings: JudgeSettings): Transition {
  const { look } = state;
  const { evidence } = seen;
  const { lookMs, deadlineMs } = settings;
  if (evidence === undefined) return { state: cleared(state, seen, now) };
  if (look === undefined || look.evidence.cause !== evidence.cause)
    return { state: { ...state, look: { evidence, at: now }, wakeAt: now + lookMs } };
  // The cause may be over: the container runs again, or the next pod is accepted. So it has until the deadline.
  const [from, afterMs] = evidence.mayEnd === true ? [now, deadlineMs] : [look.at, lookMs];
  return now - look.at >= afterMs ? revert(state, evidence, now) : { state: { ...state, wakeAt: from + lookMs } };
}

/** Its status never shows more than a pod that got past the injector. Without pods, only the first is read on. */
function cleared(state: OnProbation, { ran, isAny }: Look, now: number): WorkloadState {
  if (state.kind !== 'untested') return { ...state, look: undefined };
  if (ran) return { kind: 'verified', until: now, ...kept(state), isLocal: true, wakeAt: Infinity };
  const first = isAny ? state.first : state.first && 'late';
  return { ...state, look: undefined, first, wakeAt: isAny || first ? state.wakeAt : Infinity };
}

const revert = ({ attempt, template }: Probation, evidence: Evidence, now: number): Transition => ({
  state: { kind: 'reverting', evidence, template, attempt: attempt + 1, wakeAt: now },
  action: 'revert',
});

/** A refusal is no evidence before the deadline: a webhook that restarts, or a quota, may accept the next pod. */
function notAvailable({ available, wanted, refused }: Progressing, deadlineMs: number): Evidence {
  if (refused !== undefined)
    return { cause: 'PodsRefused', message: `the API server refuses its pods: ${shown(refused)}` };
  const message = `${available} of ${wanted} new pods are available, and no further one became so within ${deadlineMs / 1_000} seconds`;
  return { cause: 'NotReady', message };
}

import type { InjectorReport } from '../api/lumigo.ts';
import type { InjectorSettings, NamespacePolicy } from '../injection/types.ts';
import { isInjectors } from '../rollout/evidence.ts';
import { findHalt, healthFor, type NamespaceTally } from '../rollout/injector-health.ts';
import { isJudged, isProof } from '../rollout/judge.ts';
import { transition } from '../rollout/transition.ts';
import { hasPodsToJudge, inOrder, nextBatch, type Waiting } from '../rollout/batches.ts';
import { idle, type Action, type Observation, type WorkloadState } from '../rollout/workload-state.ts';
import type { PodsSeen } from '../pod-mode/pod-counts.ts';
import { isInstrumented, least, type Now, type ObservedNamespace, type ObservedWorkload } from './observed.ts';

export type WorkloadsInput = Pick<ObservedNamespace, 'policy' | 'workloads' | 'rollout'>;

export interface WorkloadChange {
  readonly workload: ObservedWorkload;
  readonly policy: NamespacePolicy;
  readonly reason: string;
  /** Undefined: a change that need not wait for its place in the queue. */
  readonly task?: 'inject' | 'revert' | 'evict';
}

type In<K extends WorkloadState['kind']> = ObservedWorkload & { readonly state: WorkloadState & { readonly kind: K } };

export interface RolloutPlan {
  readonly changes: readonly WorkloadChange[];
  readonly stateChanges: readonly ObservedWorkload[];
  readonly tally: NamespaceTally;
  readonly summary: RolloutSummary;
  readonly report: InjectorReport | undefined;
  readonly wantsSlot: boolean;
  readonly wakeAt: number;
}

export interface RolloutSummary extends Pick<InjectorSettings, 'strategy'> {
  readonly underWay: readonly ObservedWorkload[];
  readonly queued: number;
  readonly blocked: readonly In<'blocked'>[];
  readonly unready: readonly ObservedWorkload[];
  readonly reverted: readonly In<'reverted' | 'reverting'>[];
  readonly left: number;
  readonly halted: string | undefined;
  readonly pods?: PodsSeen | undefined;
}

export interface OnTheWay {
  readonly states: readonly ObservedWorkload[];
  readonly free: ReadonlySet<string>;
  /** Workloads that are not checked yet. The least risky one is known only after all checks. */
  readonly unknown: number;
}

const IDLE_MS = 60_000;

const steps: Readonly<Record<Action | 'inject', Pick<WorkloadChange, 'reason' | 'task'>>> = {
  read: { reason: 'its status is read' },
  'look-at-pods': { reason: 'its status is read' },
  inject: { reason: 'it is next in the queue', task: 'inject' },
  revert: { reason: 'its pods fail with the injection', task: 'revert' },
  evict: { reason: 'its controller waits for a broken pod', task: 'evict' },
};

export function planRollout(way: OnTheWay, observed: WorkloadsInput, now: Now): RolloutPlan {
  const { settings, injector, hasRun, hasSlot } = observed.rollout;
  const observe = (state: WorkloadState, seen: Observation) => transition(state, seen, now.ms, settings);
  const moved = way.states.map((workload) => {
    const { state, action } = observe(workload.state ?? idle, { kind: 'time', injector });
    const isMoved = state !== workload.state;
    return { workload: isMoved ? { ...workload, state } : workload, action, isMoved };
  });
  const all = moved.map(({ workload }) => workload);
  const counted = all.map(asAfterEvictions);
  const isFree = ({ uid }: ObservedWorkload): boolean => way.free.has(uid);
  const tally = countRollout(counted, isFree, hasRun);
  const halt = findHalt(tally, injector);
  const isVerified = healthFor(tally, injector) === 'verified';
  const summary = { ...getSummary(counted, halt), strategy: settings.strategy };
  const waiting = all
    .filter((each): each is In<'queued'> => isFree(each) && isWaiting(each))
    .map((each) => ({ ...each, risk: each.state.risk }));
  const isMutableUnderWay = summary.underWay.some(({ kind }) => kind.mutable);
  // A Job may stay pending, so it delays only workloads without pods, and none if the injector is verified.
  const isHeld = ({ risk }: Queued) => !hasPodsToJudge(risk) && !isVerified;
  const mayGo = summary.underWay.length > 0 ? waiting.filter((each) => !isHeld(each)) : waiting;
  const ordinary = summary.halted === undefined ? nextBatch(mayGo, tally, settings.largestBatch) : [];
  const isProven = all.some(({ state }) => isProof(state, now.ms));
  const batch = withRetries(mayGo, ordinary, isProven);
  const mayTakeSlot = hasSlot && way.unknown === 0 && batch.length > 0;
  const turns = mayTakeSlot && !isMutableUnderWay ? batch : [];
  return {
    changes: moved.flatMap(({ workload, action }) => {
      const step = action ?? (isNext(workload) ? 'inject' : undefined);
      return step === undefined || !isFree(workload) ? [] : { workload, policy: observed.policy, ...steps[step] };
    }),
    stateChanges: [
      ...moved.filter(({ isMoved }) => isMoved).map(({ workload }) => workload),
      ...turns.map((each) => ({ ...each, state: observe(each.state, { kind: 'next' }).state })),
    ],
    tally,
    summary,
    report: findReport(findProblem(halt, observed), isVerified, tally),
    wantsSlot: isMutableUnderWay || batch.length > 0,
    wakeAt: least([
      ...all.map(({ state }) => getWakeAt(state, now)),
      waiting.length > 0 && !mayTakeSlot ? now.ms + IDLE_MS : Infinity,
    ]),
  };
}

type Queued = In<'queued'> & Waiting;

/** A retry goes alone, also during a halt. Once one is verified, the others follow in batches. */
function withRetries(waiting: readonly Queued[], ordinary: readonly Queued[], isProven: boolean): readonly Queued[] {
  const retries = waiting.filter(({ state }) => state.freed === 'retry');
  const isAlone = retries.length > 0 && (ordinary.length === 0 || !isProven);
  return isAlone ? inOrder(retries).slice(0, 1) : ordinary;
}

const isIn = <K extends WorkloadState['kind']>(workload: ObservedWorkload, ...kinds: readonly K[]): workload is In<K> =>
  (kinds as readonly unknown[]).includes(workload.state?.kind);

/** Evictions delay no other workload, and change nothing about a revert. */
const asAfterEvictions = (each: ObservedWorkload): ObservedWorkload =>
  isIn(each, 'evicting') ? { ...each, state: each.state.then } : each;

const isReverted = (each: ObservedWorkload): each is In<'reverted' | 'reverting'> =>
  isIn(each, 'reverted', 'reverting');

const isWaiting = (workload: ObservedWorkload): boolean => isIn(workload, 'queued') && !workload.state.isNext;

const getWakeAt = (state: WorkloadState | undefined, now: Now): number =>
  state !== undefined && 'wakeAt' in state && state.wakeAt > now.ms ? state.wakeAt : Infinity;

const isNext = (workload: ObservedWorkload): boolean => isIn(workload, 'queued') && workload.state.isNext;

/** A revert that the API server refuses delays no other workload. */
const isUnderWay = (each: ObservedWorkload): boolean =>
  isJudged(each.state) || isNext(each) || (isIn(each, 'reverting') && each.failure?.refusedSince === undefined);

type Test = (each: ObservedWorkload) => boolean;

function countRollout(all: readonly ObservedWorkload[], isFree: Test, hasRun: boolean): NamespaceTally {
  const count = (isOne: Test): number => all.filter(isOne).length;
  // A finished Job may stay for years, so what it showed counts for an hour.
  const isVerified = (each: ObservedWorkload): each is In<'verified'> =>
    each.kind.mutable && isIn(each, 'verified') && each.state.isCurrent;
  // The API server may refuse a change without end.
  const isAhead: Test = (each) =>
    isIn(each, 'queued') && hasPodsToJudge(each.state.risk) && (isFree(each) || isNext(each));
  const reverts = all.filter(isReverted).map(({ state }) => state);
  const countFirst = (first: string) => count((each) => isIn(each, 'untested') && each.state.first === first);
  const first = countFirst('awaited');
  return {
    verified: count(isVerified),
    ran: hasRun ? 1 : 0,
    proven: count((each) => isVerified(each) && each.state.isLocal !== true),
    first,
    late: countFirst('late'),
    trying: count((each) => isJudged(each.state) || isAhead(each)) - first,
    untested: count((each) => isIn(each, 'untested') && each.state.isCurrent),
    reverted: reverts.length,
    injectorFailed: reverts.filter(({ evidence }) => isInjectors(evidence)).length,
    witnessed: reverts.filter((state) => !('isFound' in state)).length,
  };
}

function getSummary(all: readonly ObservedWorkload[], halt: string | undefined): RolloutSummary {
  const isLeft = ({ state }: In<'blocked'>): boolean => state.reason.startsWith('WaitsFor');
  const blocked = all.filter((each): each is In<'blocked'> => isIn(each, 'blocked'));
  const queued = all.filter(isWaiting).length;
  const reverted = all.filter(isReverted);
  const isHeld = queued > 0 || blocked.some(({ state }) => state.reason === 'InjectorUnverified');
  return {
    underWay: all.filter(isUnderWay),
    queued,
    blocked: blocked.filter((each) => !isLeft(each)),
    // With the strategy 'immediate', nothing is judged.
    unready: all.filter((each) => isIn(each, 'unready') && !each.state.isPaused && each.judged !== undefined),
    reverted,
    left: blocked.filter(isLeft).length,
    // After a failed Job, the webhook injects no further one.
    halted: isHeld || reverted.some(({ kind }) => !kind.mutable) ? halt : undefined,
  };
}

/** Changes that cannot be reverted wait while a workload shows if the injector works. */
function findReport(why: string | undefined, isVerified: boolean, tally: NamespaceTally): InjectorReport | undefined {
  if (why !== undefined) return { health: 'failing', why };
  return !isVerified && tally.trying + tally.first > 0
    ? { health: 'unverified', why: 'a workload is about to show how the injector fares' }
    : undefined;
}

/** The API server that refuses one injection and accepts another one may refuse it because of the workload. */
function findProblem(halt: string | undefined, { workloads, policy }: WorkloadsInput): string | undefined {
  const all = [...workloads];
  if (halt !== undefined || all.some(isInstrumented)) return halt;
  const refused = all.find(({ failure }) => failure?.refusesInjection === true && failure.policy === policy);
  return refused && `the API server refuses the injection of ${refused.kind.kind}/${refused.name}`;
}

export const noRollout = getSummary([], undefined);

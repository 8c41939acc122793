import type { InjectorReport } from '../injection/types.ts';
import { isInjectors } from '../rollout/evidence.ts';
import { haltOf, healthFor, noTally, type NamespaceTally } from '../rollout/injector-health.ts';
import { transition } from '../rollout/transition.ts';
import { nextTurns } from '../rollout/turns.ts';
import { idle, type Action, type WorkloadState } from '../rollout/workload-state.ts';
import type { Now, ObservedRollout, ObservedWorkload } from './observed.ts';

/** What is done to a workload beside what the decision about it asks for. */
export type Task = 'inject' | 'revert' | 'evict';

/** A workload in a certain state. */
type In<K extends WorkloadState['kind']> = ObservedWorkload & { readonly state: WorkloadState & { readonly kind: K } };

export interface RolloutStep {
  readonly workload: ObservedWorkload;
  readonly reason: string;
  /** Left out: it is read, and decided about. */
  readonly task?: Task;
}

export interface RolloutPlan {
  readonly steps: readonly RolloutStep[];
  /** The states that follow, and are to be noted. */
  readonly noted: readonly (readonly [ObservedWorkload, WorkloadState])[];
  readonly tally: NamespaceTally;
  readonly summary: RolloutSummary;
  /** What the webhook has to know of the injector. */
  readonly report: InjectorReport | undefined;
  /** Whether this namespace is, or wants to be, one of those in which something is changed. */
  readonly wantsTurn: boolean;
  readonly wakeAt: number;
}

/** What people are told. */
export interface RolloutSummary {
  readonly underWay: readonly ObservedWorkload[];
  readonly queued: number;
  readonly blocked: readonly In<'blocked'>[];
  readonly reverted: readonly In<'reverted' | 'reverting'>[];
  /** Those that wait for their user, as the settings say. */
  readonly left: number;
  readonly halted: string | undefined;
}

export const noRollout: RolloutSummary = {
  ...{ underWay: [], queued: 0, blocked: [], reverted: [], left: 0, halted: undefined },
};

/** What of the workloads of a namespace matters for its rollout. */
export interface OnTheWay {
  /** Those that are in a state. */
  readonly states: readonly ObservedWorkload[];
  /** The uids of those that can be read or written now. */
  readonly free: ReadonlySet<string>;
  /** Number of workloads that are not checked yet: the least risky one is known once all are. */
  readonly unknown: number;
}

/** A namespace that waits for others is planned again after so long. */
const IDLE_MS = 60_000;

const steps: Readonly<Record<Action | 'inject' | 'due', Omit<RolloutStep, 'workload'>>> = {
  read: { reason: 'its status is read' },
  'look-at-pods': { reason: 'its status is read' },
  due: { reason: 'a further change of it is due' },
  inject: { reason: 'it is next in the queue', task: 'inject' },
  revert: { reason: 'its pods fail with the injection', task: 'revert' },
  evict: { reason: 'its controller waits for a broken pod', task: 'evict' },
};

/** Returns what is to be done about the workloads of a namespace that are on their way, and what people are told. */
export function planRollout(way: OnTheWay, { settings, injector, hasTurn }: ObservedRollout, now: Now): RolloutPlan {
  const moved = way.states.map((workload) => {
    const freed = transition(workload.state ?? idle, { kind: 'injector', injector }, now.ms, settings);
    return { workload, ...transition(freed.state, { kind: 'time' }, now.ms, settings) };
  });
  const all = moved.map(({ workload, state }) => (state === workload.state ? workload : { ...workload, state }));
  const tally = tallyOf(all);
  const summary = summaryOf(all, haltOf(tally, injector));
  const isFree = ({ uid }: ObservedWorkload): boolean => way.free.has(uid);
  const waiting = all.filter((each): each is In<'queued'> => isFree(each) && isWaiting(each)).map(asWaiting);
  const standing = { verified: tally.verified, untested: tally.untested, underWay: summary.underWay.length };
  const mayTurn = hasTurn && way.unknown === 0 && summary.halted === undefined;
  const turns = mayTurn ? nextTurns(waiting, standing, settings.largestWave) : [];
  return {
    steps: moved
      .filter(({ workload }) => isFree(workload))
      .flatMap(({ workload, state, action }) => stepOf({ ...workload, state }, action)),
    noted: [
      ...moved.flatMap(({ workload, state }) => (state === workload.state ? [] : [[workload, state] as const])),
      ...turns.map(({ workload, state }) => [workload, { ...state, isNext: true }] as const),
    ],
    tally,
    summary,
    report: reportOf(tally, injector),
    wantsTurn: standing.underWay > 0 || (waiting.length > 0 && summary.halted === undefined),
    wakeAt: Math.min(
      ...all.map(({ state }) => wakeAtOf(state, now)),
      waiting.length > 0 && !mayTurn ? now.ms + IDLE_MS : Infinity,
    ),
  };
}

const isIn = <K extends WorkloadState['kind']>(workload: ObservedWorkload, ...kinds: readonly K[]): workload is In<K> =>
  (kinds as readonly string[]).includes(workload.state?.kind ?? 'idle');

const isWaiting = (workload: ObservedWorkload): boolean => isIn(workload, 'queued') && !workload.state.isNext;

const asWaiting = (workload: In<'queued'>) => {
  const { name, kind, state } = workload;
  return { name, kind: kind.kind, risk: state.risk, workload, state };
};

const wakeAtOf = (state: WorkloadState | undefined, now: Now): number =>
  state !== undefined && 'wakeAt' in state && state.wakeAt > now.ms ? state.wakeAt : Infinity;

function stepOf(workload: ObservedWorkload, action: Action | undefined): RolloutStep[] {
  const { state } = workload;
  if (action !== undefined) return [{ workload, ...steps[action] }];
  if (state?.kind === 'queued' && state.isNext) return [{ workload, ...steps.inject }];
  const isDue = (isIn(workload, 'verified') || isIn(workload, 'untested')) && workload.state.isDue === true;
  return isDue && !isJudged(workload) ? [{ workload, ...steps.due }] : [];
}

/** Its pods are about to show how the injection fares. */
function isJudged({ state }: ObservedWorkload): boolean {
  const isLookedAt = state?.kind === 'untested' && state.look !== undefined;
  return state?.kind === 'rolling' || state?.kind === 'soaking' || isLookedAt;
}

/** The other workloads of its namespace wait for it. */
const isUnderWay = (each: ObservedWorkload): boolean =>
  isJudged(each) ||
  isIn(each, 'reverting') ||
  (isIn(each, 'untested') && each.state.isFirst === true) ||
  (isIn(each, 'queued') && each.state.isNext);

function tallyOf(all: readonly ObservedWorkload[]): NamespaceTally {
  const tally = { ...noTally };
  for (const each of all) {
    if (isIn(each, 'verified', 'untested') && each.state.isCurrent) tally[each.state.kind] += 1;
    if (isJudged(each) || (isIn(each, 'queued') && each.state.risk.rank < 4)) tally.trying += 1;
    if (isIn(each, 'reverted', 'reverting')) countRevert(each.state, tally);
  }
  return tally;
}

function countRevert(
  state: In<'reverted' | 'reverting'>['state'],
  tally: { -readonly [K in keyof NamespaceTally]: number },
) {
  tally.reverted += 1;
  if (isInjectors(state.evidence)) tally.injectorFailed += 1;
  if (state.kind === 'reverting' || state.isFound === undefined) tally.witnessed += 1;
}

function summaryOf(all: readonly ObservedWorkload[], halt: string | undefined): RolloutSummary {
  const isLeft = ({ state }: In<'blocked'>): boolean => state.reason.startsWith('WaitsFor');
  const blocked = all.filter((each): each is In<'blocked'> => isIn(each, 'blocked'));
  const queued = all.filter(isWaiting).length;
  const isHeld = queued > 0 || blocked.some(({ state }) => state.reason === 'InjectorUnverified');
  return {
    underWay: all.filter(isUnderWay),
    queued,
    blocked: blocked.filter((each) => !isLeft(each)),
    reverted: all.filter((each): each is In<'reverted' | 'reverting'> => isIn(each, 'reverted', 'reverting')),
    left: blocked.filter(isLeft).length,
    halted: isHeld ? halt : undefined,
  };
}

/** Where a workload of this namespace is about to show how the injector fares, what cannot be taken back waits. */
function reportOf(tally: NamespaceTally, cluster: ObservedRollout['injector']): InjectorReport | undefined {
  const health = healthFor(tally, cluster);
  if (health === 'failing') return { health, why: haltOf(tally, cluster) ?? '' };
  return health === 'unknown' && tally.trying > 0
    ? { health: 'unverified', why: 'a workload is about to show how the injector fares' }
    : undefined;
}

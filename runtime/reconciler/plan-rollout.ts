import type { InjectorReport } from '../injection/types.ts';
import { isInjectors } from '../rollout/evidence.ts';
import { haltOf, healthFor, noTally, type NamespaceTally } from '../rollout/injector-health.ts';
import { transition } from '../rollout/transition.ts';
import { nextTurns } from '../rollout/turns.ts';
import { idle, type Action, type Observation, type WorkloadState } from '../rollout/workload-state.ts';
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

/** A namespace that halts is planned again after so long: what ends the halt may happen in another one. */
const HALTED_MS = 60_000;

const reasons: Readonly<Record<Action, readonly [reason: string, task?: Task]>> = {
  read: ['its status is read'],
  'look-at-pods': ['its status is read'],
  revert: ['its pods fail with the injection', 'revert'],
  evict: ['its controller waits for a broken pod', 'evict'],
};

/** Returns what is to be done about the workloads of a namespace that are on their way, and what people are told. */
export function planRollout(way: OnTheWay, { settings, injector, hasTurn }: ObservedRollout, now: Now): RolloutPlan {
  const after = (workload: ObservedWorkload, ...seen: readonly Observation[]) =>
    seen.reduce<ReturnType<typeof transition>>(({ state }, each) => transition(state, each, now.ms, settings), {
      state: workload.state ?? idle,
    });
  const cluster = injector;
  const moved = way.states.map((workload) => {
    const { state, action } = after(workload, { kind: 'injector', injector }, { kind: 'time' });
    return { workload, state, action };
  });
  const all = moved.map(({ workload, state }) => (state === workload.state ? workload : { ...workload, state }));
  const tally = tallyOf(all);
  const summary = summaryOf(all, haltOf(tally, cluster));
  const ready = all.filter((each): each is In<'queued'> => isIn(each, 'queued'));
  const next = ready.filter(({ state }) => state.isNext);
  const isFree = ({ uid }: ObservedWorkload): boolean => way.free.has(uid);
  const waiting = ready
    .filter((each) => isFree(each) && !each.state.isNext)
    .map((workload) => ({ ...shownAs(workload), workload }));
  const standing = { verified: tally.verified, untested: tally.untested, underWay: summary.underWay.length };
  const mayTurn = hasTurn && way.unknown === 0 && summary.halted === undefined;
  const turns = mayTurn ? nextTurns(waiting, standing, settings.largestWave) : [];
  return {
    steps: [
      ...next
        .filter(isFree)
        .map((workload) => ({ workload, reason: 'it is next in the queue', task: 'inject' as const })),
      ...moved.flatMap(({ workload, state, action }) =>
        isFree(workload) ? stepOf({ ...workload, state }, action) : [],
      ),
    ],
    noted: [
      ...moved.flatMap(({ workload, state }) => (state === workload.state ? [] : [[workload, state] as const])),
      ...turns.map(({ workload }) => [workload, after(workload, { kind: 'next' }).state] as const),
    ],
    tally,
    summary,
    report: reportOf(tally, injector),
    wantsTurn: standing.underWay > 0 || (waiting.length > 0 && summary.halted === undefined),
    wakeAt: Math.min(
      ...all.map(({ state }) =>
        state !== undefined && 'wakeAt' in state && state.wakeAt > now.ms ? state.wakeAt : Infinity,
      ),
      summary.halted === undefined ? Infinity : now.ms + HALTED_MS,
    ),
  };
}

const isIn = <K extends WorkloadState['kind']>(workload: ObservedWorkload, ...kinds: readonly K[]): workload is In<K> =>
  (kinds as readonly string[]).includes(workload.state?.kind ?? 'idle');

const shownAs = ({ name, kind, state }: In<'queued'>) => ({ name, kind: kind.kind, risk: state.risk });

function stepOf(workload: ObservedWorkload, action: Action | undefined): RolloutStep[] {
  const { state } = workload;
  const isDue = state?.kind === 'verified' && state.isDue === true;
  if (action === undefined) return isDue ? [{ workload, reason: 'a further change of it is due' }] : [];
  const [reason, task] = reasons[action];
  return [{ workload, reason, ...(task === undefined ? {} : { task }) }];
}

/** Whether its pods are about to show how the injector fares. */
function isTrying({ state }: ObservedWorkload): boolean {
  if (state?.kind === 'queued') return state.risk.rank < 4;
  return (
    state?.kind === 'rolling' || state?.kind === 'soaking' || (state?.kind === 'untested' && state.wakeAt < Infinity)
  );
}

function tallyOf(all: readonly ObservedWorkload[]): NamespaceTally {
  const tally = { ...noTally };
  for (const each of all) {
    if (isIn(each, 'verified', 'untested')) tally[each.state.kind] += 1;
    if (isTrying(each)) tally.trying += 1;
    if (!isIn(each, 'reverted', 'reverting')) continue;
    tally.reverted += 1;
    if (isInjectors(each.state.evidence)) tally.injectorFailed += 1;
  }
  return tally;
}

function summaryOf(all: readonly ObservedWorkload[], halt: string | undefined): RolloutSummary {
  const isLeft = ({ state }: In<'blocked'>): boolean => state.reason.startsWith('WaitsFor');
  const blocked = all.filter((each): each is In<'blocked'> => isIn(each, 'blocked'));
  const queued = all.filter((each): each is In<'queued'> => isIn(each, 'queued'));
  const isUnderWay = ({ state }: ObservedWorkload): boolean =>
    state?.kind === 'rolling' ||
    state?.kind === 'soaking' ||
    (state?.kind === 'queued' && state.isNext) ||
    (state?.kind === 'untested' && state.wakeAt < Infinity);
  const waits = queued.filter(({ state }) => !state.isNext).length;
  return {
    underWay: all.filter((each) => isUnderWay(each) || isIn(each, 'reverting')),
    queued: waits,
    blocked: blocked.filter((each) => !isLeft(each)),
    reverted: all.filter((each): each is In<'reverted' | 'reverting'> => isIn(each, 'reverted', 'reverting')),
    left: blocked.filter(isLeft).length,
    halted: waits > 0 || blocked.some(({ state }) => state.reason === 'InjectorUnverified') ? halt : undefined,
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

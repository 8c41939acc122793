import { SOONEST_CHECK_MS, TRIAL_MS } from '../rollout/rollout-of.ts';
import { isInjectors, type Evidence } from '../rollout/evidence.ts';
import type { OnTrial, Queued, Reverted, Rollout } from '../rollout/rollout.ts';
import { judge, type ObservedPod } from '../rollout/trial.ts';
import { haltOf, nextTurns } from '../rollout/turns.ts';
import { checkAgainAt } from './plan-workload.ts';
import type { Now, ObservedNamespace, ObservedWorkload } from './observed.ts';
import { planReverted, waitsForBroken } from './plan-reverted.ts';
import { check, isFresh, podsOf, type RolloutStep, type Step, type With } from './rollout-step.ts';

/** The workloads of a namespace that are on their way, sorted by where they are. */
export interface OnTheWay {
  readonly queued: With<Queued>[];
  readonly trials: With<OnTrial>[];
  readonly reverted: With<Reverted>[];
  proven: number;
  left: number;
  /** Being read or written. */
  busy: number;
  /** Not checked yet: whose turn it is, is known when all are. */
  unknown: number;
}

export const nothingOnTheWay = (): OnTheWay => ({
  ...{ queued: [], trials: [], reverted: [], proven: 0, left: 0, busy: 0, unknown: 0 },
});

export interface RolloutPlan {
  readonly steps: readonly RolloutStep[];
  /** What follows from what is seen, and is to be noted. */
  readonly noted: readonly (readonly [ObservedWorkload, Rollout | undefined])[];
  readonly summary: RolloutSummary;
  /** Pods that an injection has broken, and whose controller waits for them without end. */
  readonly broken: readonly ObservedPod[];
  /** Whether pods have to be watched here. */
  readonly needsPods: boolean;
  /** Whether this namespace is, or wants to be, one of those in which something is changed. */
  readonly wantsTurn: boolean;
  readonly wakeAt: number;
}

/** What people are told. */
export interface RolloutSummary {
  readonly underWay: readonly ObservedWorkload[];
  readonly queued: number;
  readonly blocked: readonly With<Queued>[];
  readonly reverted: readonly With<Reverted>[];
  readonly left: number;
  readonly halted: string | undefined;
}

export const noRollout: RolloutSummary = {
  ...{ underWay: [], queued: 0, blocked: [], reverted: [], left: 0, halted: undefined },
};

/** For so long what is proven is watched still: some programs fail late. */
const LATE_MS = 2 * 60_000;

/** So often a namespace that halts is planned again. */
const HALTED_MS = 60_000;

/** What is to be done about the workloads of a namespace that are on their way: whose turn it is, what is proven, what goes back. */
export function planRollout(way: OnTheWay, observed: ObservedNamespace, now: Now): RolloutPlan {
  const { settings, hasTurn, revertedInCluster } = observed.rollout;
  const trials = way.trials.map((workload) => ({ workload, verdict: verdictOn(workload, observed, now) }));
  const seen = [
    ...trials.map(({ workload, verdict }) => planTrial(workload, verdict, now)),
    ...way.reverted.map((each) => planReverted(each, observed, now)),
  ];
  const ready = way.queued.filter(({ rollout }) => rollout.shape.blocked === undefined);
  const blocked = way.queued.filter(({ rollout }) => rollout.shape.blocked !== undefined);
  const granted = ready.filter(({ rollout }) => rollout.granted);
  const someWait = ready.length > granted.length;
  const unproven = trials.filter((each) => isAwaited(each, someWait)).map(({ workload }) => workload);
  const isOpen = way.reverted.filter(({ rollout }) => rollout.isOpen);
  const standing = {
    proven: way.proven + way.trials.filter(({ rollout }) => rollout.provenAt !== undefined).length,
    underWay: granted.length + unproven.length + isOpen.length + way.busy,
    reverted: way.reverted.length,
    injectorFails: way.reverted.some(({ rollout }) => isInjectors(rollout.note as Pick<Evidence, 'cause'>)),
    revertedInCluster,
  };
  const halted = someWait ? haltOf(standing) : undefined;
  const mayTurn = hasTurn && way.unknown === 0;
  const turns = mayTurn ? nextTurns(ready.map(waiting), standing, settings.largestWave) : [];
  const wantsTurn = standing.underWay > 0 || (ready.length > 0 && halted === undefined);
  return {
    steps: [
      ...granted.map((workload) => ({ workload, reason: 'it is next in the queue', task: { do: 'inject' as const } })),
      ...seen.flatMap(({ step }) => step ?? []),
    ],
    noted: [
      ...turns.map(({ workload }) => [workload, { ...workload.rollout, granted: true }] as const),
      ...seen.flatMap(({ noted }) => (noted === undefined ? [] : [noted])),
    ],
    summary: {
      underWay: [...granted, ...unproven],
      queued: ready.length - granted.length,
      blocked,
      reverted: way.reverted,
      left: way.left,
      halted,
    },
    broken: seen.flatMap(({ broken = [] }) => broken),
    needsPods: way.trials.length > 0 || isOpen.some(waitsForBroken),
    wantsTurn,
    wakeAt: Math.min(
      ...seen.map(({ wakeAt = Infinity }) => wakeAt),
      ...blocked.map(({ rollout, resourceVersion }) => checkAgainAt(rollout, resourceVersion)),
      // What ends it may happen in another namespace, which nobody here hears of.
      halted === undefined ? Infinity : now.ms + HALTED_MS,
    ),
  };
}

const waiting = (workload: With<Queued>) => ({
  workload,
  name: workload.name,
  kind: workload.kind.kind,
  shape: workload.rollout.shape,
});

type Verdict = ReturnType<typeof judge> | undefined;

/** Undefined while nothing is known of its pods. */
const verdictOn = (workload: With<OnTrial>, { rollout: { pods, settings } }: ObservedNamespace, now: Now): Verdict =>
  pods && judge(workload.rollout.trial, pods.get(podsOf(workload)) ?? [], settings, Date.parse(now.iso));

/** Whether the next ones wait for it: until it is proven, and (if there are any) while it is not ready for as long as it is watched. */
function isAwaited({ workload, verdict }: { workload: With<OnTrial>; verdict: Verdict }, someWait: boolean): boolean {
  const { trial, provenAt } = workload.rollout;
  const isWell = verdict?.is !== 'broken' && verdict?.is !== 'progressing';
  return trial.wasHealthy && (provenAt === undefined || (someWait && !isWell));
}

function planTrial(workload: With<OnTrial>, verdict: Verdict, now: Now): Step {
  const { rollout } = workload;
  if (verdict === undefined) return check(workload, rollout.checkAt, now);
  if (verdict.is === 'broken') return planBroken(workload, verdict.evidence, now);
  if (verdict.is === 'proven' && rollout.provenAt === undefined)
    return { noted: [workload, { ...rollout, provenAt: now.ms }] };
  const epochMs = Date.parse(now.iso);
  const [end, then] = endOf(rollout, now.ms - epochMs);
  if (end <= now.ms) return { noted: [workload, then] };
  if (verdict.is === 'proven') return { wakeAt: end };
  const judgedAt = Math.min(end, now.ms + Math.max(0, verdict.until - epochMs) + 1_000);
  if (verdict.is === 'soaking') return { wakeAt: judgedAt };
  // While one pod after the other gets ready, its own status has nothing to say.
  const judged = check(workload, Math.max(rollout.checkAt, now.ms + verdict.since - epochMs + SOONEST_CHECK_MS), now);
  return { ...judged, wakeAt: Math.min(judged.wakeAt ?? Infinity, judgedAt) };
}

/** How many pods there are to be may have changed since the object was read, and tells nobody. */
const planBroken = (workload: With<OnTrial>, evidence: Evidence, now: Now): Step =>
  evidence.cause === 'NotReady' && !isFresh(workload.rollout, now)
    ? check(workload, now.ms, now)
    : { step: revert(workload, evidence) };

/** Until when it is watched by the monotonic clock, which is `ahead` of the cluster's, and what it counts as from then on. */
const endOf = ({ trial, provenAt, policy }: With<OnTrial>['rollout'], ahead: number): [number, Rollout | undefined] =>
  provenAt === undefined
    ? [trial.changedAt + ahead + TRIAL_MS, undefined]
    : [provenAt + LATE_MS, { state: 'proven', policy }];

const revert = (workload: ObservedWorkload, evidence: Evidence): RolloutStep => ({
  workload,
  reason: `its pods fail: ${evidence.message}`,
  task: { do: 'revert', evidence },
});

import { labels } from '../contract.ts';
import { optedOut } from '../injection/label.ts';
import { isReverted, parseStamp, type Stamp } from '../injection/stamp.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { isInstrumented, type ObservedNamespace, type ObservedWorkload } from './observed.ts';

type Situation = Pick<ObservedNamespace, 'policy' | 'isLumigoGone'>;

interface WorkloadStep {
  /**
   * `change`: read it whole, decide, and write what differs. `confirm`: first make sure that its Lumigo is gone. `nothing`: as far as
   * its rollout asks for nothing (plan-rollout.ts).
   */
  readonly do: 'change' | 'confirm' | 'wait' | 'nothing';
  readonly reason: string;
  /** When to look again, by the monotonic clock; left out: when the change that is under way has ended. */
  readonly until?: number;
}
const change = (reason: string): WorkloadStep => ({ do: 'change', reason });
const nothing = (reason: string): WorkloadStep => ({ do: 'nothing', reason });
const settled = nothing('it is up to date');

/** A change that another writer undoes sooner than this was undone because of it; later, it had a life of its own. */
const CONTESTED_MS = 10 * 60_000;
/**
 * How long a change that was undone is left undone, the first time and every further time in a row: at most three writes of
 * one workload in any ten minutes, five in the first day, and one a day from then on. Each is a rollout, and so is its undoing.
 */
const contestDelaysMs = [10_000, 60_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000] as const;

/**
 * What is to be done about one workload, from its metadata alone. It errs towards reading the whole object, where `decide`
 * has the last word; a check that found nothing to do settles the workload until it, or the policy, changes.
 */
export function planWorkload(workload: ObservedWorkload, situation: Situation, now: number): WorkloadStep {
  const { policy } = situation;
  if (workload.deleting) return nothing('it is being deleted');
  if (workload.settled === policy) return settled;
  if (workload.attempt !== undefined) return { do: 'wait', reason: 'it is being changed' };
  const cause = causeFor(workload, situation);
  return cause.do === 'nothing' ? cause : (patience(workload, policy, now) ?? cause);
}

export const failedLately = ({ failure }: ObservedWorkload, policy: NamespacePolicy, now: number) =>
  failure?.policy === policy && failure.retryAt > now ? failure : undefined;

function patience(workload: ObservedWorkload, policy: NamespacePolicy, now: number): WorkloadStep | undefined {
  const failure = failedLately(workload, policy, now);
  if (failure !== undefined)
    return { do: 'wait', reason: `the operator retries later: ${failure.problem}`, until: failure.retryAt };
  const { touchedAt = 0, repeats = 0 } = workload.write ?? {};
  const until = isContested(workload, policy) ? touchedAt + contestDelayMs(repeats) : 0;
  if (until <= now) return undefined;
  return { do: 'wait', reason: 'another writer undid the last change, so the operator waits', until };
}

function causeFor(workload: ObservedWorkload, { policy, isLumigoGone }: Situation): WorkloadStep {
  if (policy.state === 'excluded') return nothing('its namespace is never instrumented');
  if (optsOut(workload))
    return workload.kind.mutable
      ? change('it opts out by its label')
      : nothing('it opts out by its label, and cannot change');
  const touched = isInstrumented(workload) || workload.stamp !== undefined;
  if (policy.state === 'none') return causeAlone(workload, touched, isLumigoGone);
  return touched ? causeToRenew(workload, policy) : causeToInject(workload, policy);
}

function causeToInject({ createdAt }: ObservedWorkload, policy: NamespacePolicy): WorkloadStep {
  if (policy.state !== 'active') return nothing('no Lumigo resource in its namespace is active');
  return policy.injectExisting || createdAt > policy.createdAt
    ? change(`the Lumigo resource '${policy.lumigo}' covers it`)
    : nothing('it is older than its Lumigo resource, which does not change existing workloads');
}

function causeToRenew({ kind }: ObservedWorkload, { state }: NamespacePolicy): WorkloadStep {
  if (state === 'active' && !kind.mutable) return nothing('it cannot change');
  const reason = renewals[state];
  return reason === undefined ? nothing('its Lumigo resource is not active; the injection stays') : change(reason);
}

const renewals: Partial<Record<NamespacePolicy['state'], string>> = {
  active: 'its injection is checked',
  disabled: 'injection is switched off',
  deleting: 'its Lumigo resource is being deleted',
  pods: 'its Lumigo resource injects pods instead',
};

/** Where there is no Lumigo: who asks for itself by its label, and what a Lumigo that is gone has left behind. */
function causeAlone(workload: ObservedWorkload, touched: boolean, isLumigoGone: boolean): WorkloadStep {
  const { kind, label } = workload;
  const stamp = parseStamp(workload.stamp);
  // Without a stamp the original operator has instrumented it, whose label it had asked by (injection/original.ts).
  const asked = stamp === undefined ? 'true' : stamp.userLabel;
  const own = isInstrumented(workload) ? asked : label;
  const canChange = kind.mutable || !touched;
  if (isTrue(own) && canChange) return change('it opts in by its label');
  const stays = !isReverted(workload.stamp) && isToStay(stamp, own);
  if (stays || !canChange) return nothing('there is no Lumigo resource in its namespace');
  return { do: isLumigoGone ? 'change' : 'confirm', reason: 'its Lumigo resource no longer exists' };
}

/** Nobody but its Lumigo brought the injection, and did not say that it stays: then it goes with it. */
const isToStay = (stamp: Stamp | undefined, own: string | undefined): boolean =>
  stamp === undefined || stamp.keep === true || isTrue(own);

const isTrue = (label: string | undefined): boolean => label?.toLowerCase() === 'true';

const optsOut = ({ label }: ObservedWorkload): boolean =>
  optedOut({ labels: label === undefined ? {} : { [labels.autoTrace]: label } });

/** Whether somebody undid the last change so soon that it was because of it. */
export const isContested = ({ write }: ObservedWorkload, policy: NamespacePolicy): boolean =>
  write?.policy === policy && write.touchedAt !== undefined && write.touchedAt - write.at < CONTESTED_MS;

export const contestDelayMs = (repeats: number): number =>
  contestDelaysMs[Math.min(repeats, contestDelaysMs.length - 1)] ?? 0;

import type { RuntimeConfig } from '../config/config.ts';
import { annotations, labels } from '../contract.ts';
import type { Workload } from '../api/objects.ts';
import { optedOut } from '../injection/label.ts';
import { isReverted, isSameChange, parseInjectionStatus } from '../injection/injection-status.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { isInstrumented, type ObservedWorkload } from './observed.ts';

/** `change`: read, decide and write. `nothing`: plan-rollout.ts decides. */
type Cause = Readonly<{ kind: 'change'; reason: string } | { kind: 'nothing'; reason: string }>;
type WorkloadStep = Cause | { readonly kind: 'wait'; readonly until: number };

const change = (reason: string): Cause => ({ kind: 'change', reason });
const nothing = (reason: string): Cause => ({ kind: 'nothing', reason });

/** A change that another writer undoes within this time was undone because of it. */
export const CONTESTED_MS = 10 * 60_000;
/** By repetitions: at most three writes of a workload in ten minutes, five on the first day, then one a day. */
const contestDelaysMs = [60_000, 3_600_000, 6 * 3_600_000, 24 * 3_600_000] as const;

/** Plans by metadata alone. In doubt it asks for the whole object, about which `decide` decides. */
export function planWorkload(workload: ObservedWorkload, policy: NamespacePolicy, now: number): WorkloadStep {
  if (workload.deleting) return nothing('it is being deleted');
  if (workload.checkedUnder === policy) return nothing('it is up to date');
  if (workload.inFlight !== undefined) return { kind: 'wait', until: Infinity };
  const cause = causeFor(workload, policy);
  const calmAt = isContested(workload, policy) ? contestedUntil(workload, policy) : 0;
  const until = Math.max(retryAt(workload, policy), calmAt);
  return cause.kind === 'change' && until > now ? { kind: 'wait', until } : cause;
}

/** Until then no failed change is repeated. */
export const retryAt = ({ failure }: ObservedWorkload, policy: NamespacePolicy): number =>
  failure?.policy === policy ? failure.retryAt : 0;

function causeFor(workload: ObservedWorkload, policy: NamespacePolicy): Cause {
  if (policy.kind === 'excluded') return nothing('its namespace is never instrumented');
  if (optsOut(workload))
    return workload.kind.mutable
      ? change('it opts out by its label')
      : nothing('it opts out by its label, and cannot change');
  // The metadata do not show an injection whose removal another webhook undid.
  const isLeft = workload.write?.undoneAt !== undefined;
  const touched = isInstrumented(workload) || workload.injectionStatus !== undefined || isLeft;
  if (policy.kind === 'none') return causeAlone(workload, touched);
  return touched ? causeToRenew(workload, policy) : causeToInject(workload, policy);
}

function causeToInject({ createdAt }: ObservedWorkload, policy: NamespacePolicy): Cause {
  if (policy.kind !== 'active') return nothing('no Lumigo resource in its namespace is active');
  return policy.injectExisting || createdAt > policy.createdAt
    ? change(`the Lumigo resource '${policy.lumigo}' covers it`)
    : nothing('it is older than its Lumigo resource, which does not change existing workloads');
}

function causeToRenew(workload: ObservedWorkload, { kind: state }: NamespacePolicy) {
  const { kind, judged, injectionStatus, checkedUnder } = workload;
  const isJudged = isSameChange(judged, injectionStatus);
  if (state === 'active' && !kind.mutable && isJudged) return nothing('it cannot change');
  // Only a leader that has read it can judge and revert it.
  if (state === 'inactive' && !isJudged && checkedUnder === undefined) return change('its injection is judged');
  const reason = renewals[state];
  return reason === undefined ? nothing('its Lumigo resource is not active; the injection stays') : change(reason);
}

const renewals: Partial<Record<NamespacePolicy['kind'], string>> = {
  active: 'its injection is checked',
  disabled: 'injection is switched off',
  deleting: 'its Lumigo resource is being deleted',
  pods: 'its Lumigo resource injects pods instead',
};

function causeAlone(workload: ObservedWorkload, touched: boolean): Cause {
  const { kind, label } = workload;
  const injectionStatus = parseInjectionStatus(workload.injectionStatus);
  // The original operator left no injection status, and replaced a label of `true` (injection/standing.ts).
  const asked = injectionStatus === undefined ? 'true' : injectionStatus.userLabel;
  const own = isInstrumented(workload) ? asked : label;
  const canChange = kind.mutable || !touched;
  if (own?.toLowerCase() === 'true' && canChange) return change('it opts in by its label');
  const isKept = injectionStatus === undefined ? !isReverted(workload.injectionStatus) : injectionStatus.keep === true;
  if (isKept || !canChange) return nothing('there is no Lumigo resource in its namespace');
  return change('its Lumigo resource no longer exists');
}

export function whyWaits(strategy: RuntimeConfig['rolloutStrategy'], { metadata }: Workload) {
  if (strategy === 'on-next-change') return 'WaitsForChange';
  const isApproved = metadata.annotations?.[annotations.retry] !== undefined;
  return strategy === 'manual' && !isApproved ? 'WaitsForApproval' : undefined;
}

const optsOut = ({ label }: ObservedWorkload): boolean =>
  optedOut({ labels: label === undefined ? {} : { [labels.autoTrace]: label } });

/** Returns whether another writer soon changed the workload. It may have undone the last change, or only scaled. */
export const mayBeUndone = ({ write }: ObservedWorkload, policy: NamespacePolicy): boolean =>
  write?.policy === policy && write.touchedAt !== undefined && write.touchedAt - write.at < CONTESTED_MS;

/** Only a repeated write proves that the other writer undoes. A reading after its last change shows if it did. */
export function isContested(workload: ObservedWorkload, policy: NamespacePolicy): boolean {
  const { touchedAt = Infinity, undoneAt = -Infinity, repeats = -Infinity } = workload.write ?? {};
  return mayBeUndone(workload, policy) && repeats > 0 && undoneAt >= touchedAt;
}

/** Until then no write is repeated. */
export const contestedUntil = (workload: ObservedWorkload, policy: NamespacePolicy): number =>
  mayBeUndone(workload, policy) ? (workload.write?.touchedAt ?? 0) + contestDelayMs(workload.write?.repeats ?? 0) : 0;

export const contestDelayMs = (repeats: number): number =>
  contestDelaysMs[Math.min(repeats, contestDelaysMs.length) - 1] ?? 0;

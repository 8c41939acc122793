import { eventReasons, lumigo as contract } from '../contract.ts';
import { changeFor, type Decision } from '../injection/decision.ts';
import { parseStamp, type Stamp } from '../injection/stamp.ts';
import type { Condition, LumigoResource, LumigoStatus, NamespacePolicy } from '../injection/types.ts';
import type { Evidence } from '../rollout/evidence.ts';
import { HALTED, ROLLED_OUT } from './conditions-rollout.ts';
import type { QueuedEvent } from './event-queue.ts';
import type { Change, Failed } from './facts.ts';
import type { ObservedWorkload } from './observed.ts';

/** What was done to a workload, by the webhook or by the reconciler. `exceptions`: sentences on what was left out of it. */
export function changed(
  workload: ObservedWorkload,
  policy: NamespacePolicy,
  change: 'added' | 'updated' | 'removed',
  exceptions: readonly string[] = [],
): QueuedEvent {
  const stamp = change === 'removed' ? undefined : parseStamp(workload.stamp);
  const which = change === 'removed' ? (workload.instrumentedVersion ?? '') : (stamp?.at ?? '');
  return {
    regarding: regarding(workload),
    reason: eventReasons[change],
    type: 'Normal',
    message: `Lumigo instrumentation ${change} (trigger: ${trigger(workload, policy, stamp?.by)})${exceptions.map((each) => `; ${each}`).join('')}`,
    key: `${change}/${which}`,
  };
}

/** What the decision tried cannot be done with the workload as it is. */
export function cannot(workload: ObservedWorkload, policy: NamespacePolicy, decision: Decision): QueuedEvent {
  const { tried, code, message } = decision;
  const [reason] = failures[changeFor[tried]];
  return {
    regarding: regarding(workload),
    reason,
    type: 'Warning',
    message: `${message} (trigger: ${trigger(workload, policy, 'controller')})`,
    key: `${reason}/${code}/${policyAge(policy)}`,
  };
}

/** The API server refused a change; the same refusal of the same generation is one event. */
export function refused(workload: ObservedWorkload, policy: NamespacePolicy, { change, problem }: Failed): QueuedEvent {
  const [reason, verb] = failures[change];
  return {
    regarding: regarding(workload),
    reason,
    type: 'Warning',
    message: `Cannot ${verb} Lumigo instrumentation (trigger: ${trigger(workload, policy, 'controller')}): ${problem}`,
    key: `${reason}/${workload.generation}/${problem}`,
  };
}

/** Another writer has undone the last change, and it was made again. `nextMs`: how long the next undoing will be left alone. */
export function contested(workload: ObservedWorkload, change: Change, repeats: number, nextMs: number): QueuedEvent {
  const times = repeats === 1 ? 'once' : `${repeats} times in a row`;
  return {
    regarding: regarding(workload),
    reason: eventReasons.contested,
    type: 'Warning',
    message: `Another writer undid the operator's change ${times}, so Lumigo instrumentation was ${change === 'removed' ? 'removed' : 'added'} again. If this happens again, the operator waits ${inWords(nextMs)}. To stop the conflict: (1) let that writer's changes pass through the webhook, (2) inject pods instead of workloads (spec.tracing.injection.mode: Pod), or (3) opt the workload out with the label lumigo.auto-trace: "false"`,
    key: `${eventReasons.contested}/${workload.resourceVersion}`,
  };
}

/** Conditions of a Lumigo that are worth an event when they turn, for any reason or for this one. */
const told: Readonly<Record<string, { readonly event: string; readonly reason?: string }>> = {
  TokenAccepted: { event: eventReasons.tokenRefused },
  [ROLLED_OUT]: { event: eventReasons.rolloutHalted, reason: HALTED },
};

const isTold = ({ type, status, reason }: Condition): boolean => {
  const row = told[type];
  return status === 'False' && row !== undefined && (row.reason === undefined || row.reason === reason);
};

/** What a new status of a Lumigo says for the first time. What it said before, under whichever leader, was told then. */
export function turnedFalse({ apiVersion, kind, metadata, status }: LumigoResource, next: LumigoStatus): QueuedEvent[] {
  const { namespace, name, uid, resourceVersion = '' } = metadata;
  const before = new Set(status?.conditions?.filter(isTold).map(({ type }) => type));
  return (next.conditions ?? []).filter(isTold).flatMap(({ type, message, lastTransitionTime }) => {
    const reason = told[type]?.event;
    if (reason === undefined || before.has(type)) return [];
    const regarding = { apiVersion, kind, namespace, name, uid, resourceVersion };
    const key = `${reason}/${type === ROLLED_OUT ? resourceVersion : lastTransitionTime}`;
    return [{ regarding, reason, type: 'Warning', message: message.slice(0, MESSAGE), key }];
  });
}

/** The API server takes 1,024 characters. */
const MESSAGE = 1_000;

/** The event on a workload whose injection is removed because its pods failed. Its key holds the injection's stamp: one event per injection. */
export function reverted(workload: ObservedWorkload, { cause, message }: Evidence): QueuedEvent {
  return {
    regarding: regarding(workload),
    reason: eventReasons.reverted,
    type: 'Warning',
    message: `Removed Lumigo instrumentation because pods failed with it (${cause}): ${message}`.slice(0, MESSAGE),
    key: `${eventReasons.reverted}/${parseStamp(workload.stamp)?.at}`,
  };
}

/** What a Lumigo asks for cannot be collected. */
export function telemetryFailed({ metadata }: LumigoResource, message: string, key: string): QueuedEvent {
  const { namespace, name, uid, resourceVersion = '' } = metadata;
  const { apiVersion, kind } = contract;
  const regarding = { apiVersion, kind, namespace, name, uid, resourceVersion };
  return { regarding, reason: eventReasons.telemetryFailed, type: 'Warning', message, key };
}

const regarding = ({ kind: { apiVersion, kind }, ...workload }: ObservedWorkload): QueuedEvent['regarding'] => {
  const { namespace, name, uid, resourceVersion } = workload;
  return { apiVersion, kind, namespace, name, uid, resourceVersion };
};

const inWords = (ms: number): string =>
  ms < 60_000 ? `${ms / 1_000} seconds` : ms < 3_600_000 ? `${ms / 60_000} minutes` : `${ms / 3_600_000} hours`;

const failures: Readonly<Record<Change, readonly [reason: string, verb: string]>> = {
  added: [eventReasons.cannotAdd, 'add'],
  updated: [eventReasons.cannotUpdate, 'update'],
  none: [eventReasons.cannotUpdate, 'update'],
  removed: [eventReasons.cannotRemove, 'remove'],
};

/** Tells one life of a policy from another, so that what cannot be done is told once in each. */
export const policyAge = (policy: NamespacePolicy): string =>
  policy.state === 'active' ? policy.createdAt : policy.state;

function trigger({ namespace }: ObservedWorkload, policy: NamespacePolicy, by: Stamp['by'] | undefined): string {
  const actor = by === 'webhook' ? 'injector webhook' : 'controller';
  if ('lumigo' in policy) return `${actor}, acting on behalf of the '${namespace}/${policy.lumigo}' Lumigo resource`;
  return `${actor}, acting on the workload's own labels`;
}

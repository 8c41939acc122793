import { guardAnswer, lumigo as contract } from '../contract.ts';
import { changeFor, type Decision } from '../injection/decision.ts';
import { parseInjectionStatus, type InjectionStatus } from '../injection/injection-status.ts';
import { events, type EventReason } from '../api/events.ts';
import type { Condition, LumigoResource, LumigoStatus } from '../api/lumigo.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { Revert } from '../injection/revert.ts';
import { HALTED, ROLLED_OUT } from './conditions-rollout.ts';
import { shown } from '../rollout/evidence.ts';
import type { QueuedEvent } from '../kubernetes/resources/event-queue.ts';
import type { Change, Failed } from './facts.ts';
import type { ObservedWorkload } from './observed.ts';

type Made = Exclude<Change, 'none'>;

/** `remover`: the workload does not say who removed its injection. */
export function changed(workload: ObservedWorkload, policy: NamespacePolicy, change: Made, remover?: 'webhook') {
  const injectionStatus = change === 'removed' ? undefined : parseInjectionStatus(workload.injectionStatus);
  const { by = remover, at, skipped } = injectionStatus ?? {};
  const message = `Lumigo instrumentation ${change} (${trigger(workload, policy, by)})`;
  const more = skipped === undefined ? '' : `; ${skipped}`;
  return eventOn(workload, words[change].done, message + more, at ?? workload.instrumentedVersion ?? '');
}

/** The key makes each cause one event in the life of a policy. */
export function cannot(workload: ObservedWorkload, policy: NamespacePolicy, decision: Decision): QueuedEvent {
  const { failed } = words[changeFor[decision.tried]];
  const message = `${decision.message} (${trigger(workload, policy)})`;
  const age = policy.kind === 'active' ? policy.createdAt : policy.kind;
  return eventOn(workload, failed, message, `${decision.message}/${age}`);
}

export function refused(workload: ObservedWorkload, policy: NamespacePolicy, { change, problem }: Failed): QueuedEvent {
  const { failed, verb } = words[change];
  const message = `Cannot ${verb} Lumigo instrumentation (${trigger(workload, policy)}): ${describeProblem({ problem })}`;
  return eventOn(workload, failed, message, `${workload.generation}/${problem}`);
}

/** The guard sees a write after all mutating webhooks, and cannot tell who changed what. */
const OTHER_WEBHOOK =
  ". If another admission webhook changed this write, exempt the operator's account there, or set guard: Audit";

export const describeProblem = ({ problem }: Pick<Failed, 'problem'>): string =>
  shown(problem) + (problem.includes(guardAnswer) ? OTHER_WEBHOOK : '');

export function contested(workload: ObservedWorkload, change: Change, repeats: number, nextMs: number): QueuedEvent {
  const times = repeats === 1 ? 'once' : `${repeats} times in a row`;
  const message = `Another writer undid the operator's change ${times}. ${change === 'none' ? 'The label and annotation of the operator were' : 'Lumigo instrumentation was'} ${change === 'removed' ? 'removed' : 'added'} again. If this happens again, the operator waits ${inWords(nextMs)}. ${events.LumigoInstrumentationContested.action}`;
  return eventOn(workload, 'LumigoInstrumentationContested', message, workload.resourceVersion);
}

export function reverted(workload: ObservedWorkload, { at, cause, evidence }: Revert): QueuedEvent {
  const message = `Removed Lumigo instrumentation because pods failed with it (${cause}): ${evidence}`;
  return eventOn(workload, 'LumigoRevertedInstrumentation', message, at);
}

export const telemetryFailed = ({ metadata }: LumigoResource, message: string, key: string): QueuedEvent =>
  eventOn({ kind: contract, ...metadata }, 'LumigoCannotCollectTelemetry', message, key);

/** Event reasons for conditions that are `False`, by `type` or by `type/reason`. */
const reported: Readonly<Record<string, EventReason>> = {
  TokenAccepted: 'LumigoTokenRefused',
  [`${ROLLED_OUT}/${HALTED}`]: 'LumigoRolloutHalted',
};
const reasonFor = ({ type, status, reason }: Condition): EventReason | undefined =>
  status === 'False' ? (reported[type] ?? reported[`${type}/${reason}`]) : undefined;

/** Omits the events for the previous status, which its leader reported. */
export function turnedFalse({ metadata, status }: LumigoResource, next: LumigoStatus): QueuedEvent[] {
  const before = new Set(status?.conditions?.map(reasonFor));
  return (next.conditions ?? []).flatMap((condition) => {
    const reason = reasonFor(condition);
    if (reason === undefined || before.has(reason)) return [];
    return eventOn({ kind: contract, ...metadata }, reason, condition.message, metadata.resourceVersion ?? '');
  });
}

type Subject = Pick<ObservedWorkload, 'namespace' | 'name' | 'uid'> & {
  readonly kind: Pick<QueuedEvent['regarding'], 'apiVersion' | 'kind'>;
  readonly resourceVersion?: string | undefined;
};

function eventOn(subject: Subject, reason: EventReason, message: string, key: string): QueuedEvent {
  const { namespace, name, uid, resourceVersion = '', kind: type } = subject;
  const regarding = { apiVersion: type.apiVersion, kind: type.kind, namespace, name, uid, resourceVersion };
  return { regarding, reason, message, key };
}

const inWords = (ms: number): string =>
  ({ 60_000: 'one minute', 3_600_000: 'one hour' })[ms] ?? `${ms / 3_600_000} hours`;

const words = {
  added: { done: 'LumigoAddedInstrumentation', failed: 'LumigoCannotAddInstrumentation', verb: 'add' },
  updated: { done: 'LumigoUpdatedInstrumentation', failed: 'LumigoCannotUpdateInstrumentation', verb: 'update' },
  none: { failed: 'LumigoCannotUpdateInstrumentation', verb: 'update' },
  removed: { done: 'LumigoRemovedInstrumentation', failed: 'LumigoCannotRemoveInstrumentation', verb: 'remove' },
} as const;

function trigger({ namespace }: ObservedWorkload, policy: NamespacePolicy, by?: InjectionStatus['by']): string {
  const actor = `trigger: ${by === 'webhook' ? 'injector webhook' : 'controller'}`;
  if ('lumigo' in policy) return `${actor}, acting on behalf of the '${namespace}/${policy.lumigo}' Lumigo resource`;
  return `${actor}, acting on the workload's own labels`;
}

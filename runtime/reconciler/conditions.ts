import type {
  Condition,
  InjectorReport,
  InstrumentedResource,
  LumigoStatus,
  Metadata,
  Problem,
} from '../injection/types.ts';
import type { WebhookSeen } from '../webhook/judge-probes.ts';
import type { ObservedNamespace } from './observed.ts';
import { ROLLED_OUT, rolloutCondition, type Untimed } from './conditions-rollout.ts';
import type { RolloutSummary } from './plan-rollout.ts';
import type { Progress } from './plan-workloads.ts';

export interface StatusInput extends Pick<ObservedNamespace, 'webhook' | 'telemetry' | 'token'> {
  readonly metadata: Pick<Metadata, 'generation' | 'deletionTimestamp'>;
  readonly problem: Problem | undefined;
  readonly progress: Progress;
  readonly rollout: RolloutSummary;
  /** What the webhook has to know of the injector. */
  readonly report: InjectorReport | undefined;
  readonly instrumented: readonly InstrumentedResource[];
  /** The resourceVersion of the Secret as it was last read. */
  readonly secretVersion: string | undefined;
  /** ISO 8601, in whole seconds. */
  readonly now: string;
}

/** The status that a Lumigo should have. Times of conditions whose status stays are kept, so that nothing changes without a cause. */
export function statusOf(input: StatusInput, current: LumigoStatus | undefined): LumigoStatus {
  const { metadata, progress, report, instrumented, secretVersion = current?.secretVersion } = input;
  const known = new Map(current?.conditions?.map((condition) => [condition.type, condition]));
  const observedGeneration = metadata.generation === undefined ? {} : { observedGeneration: metadata.generation };
  const conditions = conditionsOf(input, known).map((condition) => {
    const before = known.get(condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : input.now;
    return { ...condition, lastTransitionTime, ...observedGeneration };
  });
  return {
    conditions,
    instrumentedResources: instrumented,
    instrumentedResourcesCount: progress.instrumented,
    ...(report === undefined ? {} : { injector: report }),
    ...(secretVersion === undefined ? {} : { secretVersion }),
    ...observedGeneration,
  };
}

function conditionsOf(input: StatusInput, known: ReadonlyMap<string, Condition>): Untimed[] {
  const { webhook, telemetry, token, progress } = input;
  const accepted = onceThereWas(token.accepted, tokenAccepted, known);
  return [
    activeCondition(input, accepted[0]),
    errorCondition(input),
    ...(webhook === undefined ? [] : [reachableCondition(webhook)]),
    ...(telemetry === undefined ? [] : [observed(telemetry, telemetryReady)]),
    // Said only where there is, or was, something to say.
    ...listOf(rolloutCondition(input.rollout, known.has(ROLLED_OUT))),
    ...(progress.elsewhere > 0 || known.has(injectionsCurrent.type) ? [currentCondition(progress)] : []),
    ...accepted,
  ];
}

const listOf = <T>(item: T | undefined): T[] => (item === undefined ? [] : [item]);

/** `kubectl get` prints the reason of this condition, so a refused token is in it: the Lumigo is active, and nothing arrives. */
function activeCondition({ metadata, problem, progress }: StatusInput, accepted: Untimed | undefined): Untimed {
  const inactive = { type: 'Active', status: 'False' } as const;
  const soFar = inWords(progress);
  if (metadata.deletionTimestamp !== undefined)
    return { ...inactive, reason: 'Deleting', message: `This Lumigo resource is being deleted${soFar}` };
  if (problem === undefined && accepted?.status === 'False')
    return { type: 'Active', status: 'True', reason: accepted.reason, message: `${accepted.message}${soFar}` };
  if (problem === undefined)
    return { type: 'Active', status: 'True', reason: 'Ready', message: `Lumigo is ready${soFar}` };
  return {
    ...inactive,
    reason: problem.reason,
    message: "This Lumigo resource has an error, see the 'Error' condition",
  };
}

function errorCondition({ problem }: StatusInput): Untimed {
  if (problem === undefined) return { type: 'Error', status: 'False', reason: 'NoError', message: '' };
  return { type: 'Error', status: 'True', ...problem };
}

function good(type: Condition['type'], reason: string, message: string): Untimed {
  return { type, status: 'True', reason, message };
}

const reachableCondition = ({ reachable, reason, message }: WebhookSeen): Untimed => ({
  type: 'WebhookReachable',
  status: reachable ? 'True' : 'False',
  reason,
  message,
});

const telemetryReady = good(
  'TelemetryProxyReady',
  'ConfigurationTaken',
  'The telemetry proxy collects all telemetry that the Lumigo resources request',
);
const injectionsCurrent = good(
  'InjectionsCurrent',
  'Current',
  "Every injected workload sends to this installation's telemetry proxy",
);

const tokenAccepted = good('TokenAccepted', 'Accepted', "Lumigo's endpoint accepts the token");

/** After the installation was renamed or moved: what was injected before sends to a Service that may be gone. */
const currentCondition = ({ elsewhere }: Progress): Untimed =>
  elsewhere === 0
    ? injectionsCurrent
    : {
        ...injectionsCurrent,
        status: 'False',
        reason: 'OtherEndpoint',
        message: `${workloads(elsewhere, 'sends', 'send')} telemetry to an address that is not this installation's telemetry proxy. The operator renews the injection when the pod template changes, or at once with the setting injection.updateOnUpgrade`,
      };

/** A condition on what is seen from outside: the good one, or the problem. */
const observed = (seen: Problem | string, good: Untimed): Untimed =>
  typeof seen === 'string' ? good : { type: good.type, status: 'False', ...seen };

/** The same, said only where there is, or was, a problem; what was said stays until something is seen. */
function onceThereWas(
  seen: Problem | string | undefined,
  good: Untimed,
  known: ReadonlyMap<string, Condition>,
): Untimed[] {
  const before = known.get(good.type);
  if (seen === undefined) return before === undefined ? [] : [before];
  return typeof seen === 'string' && before === undefined ? [] : [observed(seen, good)];
}

const workloads = (number: number, one: string, many: string): string =>
  number === 1 ? `1 workload ${one}` : `${number} workloads ${many}`;

const waits = [
  ['pending', 'waits', 'wait', 'for a change'],
  ['failed', 'could', 'could', 'not be changed and will be retried (see their events)'],
  ['contested', 'is', 'are', 'changed back by another writer after each change (see their events)'],
  [
    'older',
    'has',
    'have',
    'an injection from another operator version (renewed when the pod template changes, or at once with injection.updateOnUpgrade)',
  ],
  ['tooLarge', 'exceeds', 'exceed', 'the size limit and will not be changed (see their events)'],
] as const;

const inWords = (progress: Progress): string =>
  waits
    .filter(([number]) => progress[number] > 0)
    .map(([number, one, many, what]) => `. ${workloads(progress[number], one, many)} ${what}`)
    .join('');

/** Whether two statuses say the same, whatever the order of their keys. */
export const sameStatus = (a: LumigoStatus, b: LumigoStatus): boolean =>
  isSameText(a, b) &&
  sameList(a.conditions, b.conditions, ['lastTransitionTime']) &&
  sameResources(a.instrumentedResources, b.instrumentedResources) &&
  sameList(a.instrumentedResources, b.instrumentedResources, ['state']);

/** Whether two statuses say the same, apart from times and lists. */
export const isSameText = (a: LumigoStatus, b: LumigoStatus): boolean =>
  sameConditions(a, b) &&
  a.instrumentedResourcesCount === b.instrumentedResourcesCount &&
  sameList(a.conditions, b.conditions, ['message']);

/** Whether two lists name the same instrumentations. */
export const sameResources = (a: readonly InstrumentedResource[] = [], b: readonly InstrumentedResource[] = []) =>
  sameList(a, b, ['kind', 'name', 'uid', 'resourceVersion']);

/** Whether two statuses differ by numbers and words at the most. */
export const sameConditions = (a: LumigoStatus, b: LumigoStatus): boolean =>
  a.observedGeneration === b.observedGeneration &&
  a.secretVersion === b.secretVersion &&
  a.injector?.health === b.injector?.health &&
  sameList(a.conditions, b.conditions, ['type', 'status', 'reason', 'observedGeneration']);

function sameList<T>(a: readonly T[] = [], b: readonly T[] = [], keys: readonly (keyof T)[]): boolean {
  return a.length === b.length && a.every((item, index) => keys.every((key) => item[key] === b[index]?.[key]));
}

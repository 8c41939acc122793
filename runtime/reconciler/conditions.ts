import type { Condition, InstrumentedResource, LumigoStatus } from '../injection/types.ts';
import type { Problem } from '../problem.ts';

export interface StatusInput {
  readonly generation: number | undefined;
  readonly deleting: boolean;
  readonly problem: Problem | undefined;
  /** Workloads of the namespace that still wait for a change, and those that could not be changed. */
  readonly pending: number;
  readonly failed: number;
  readonly instrumented: readonly InstrumentedResource[];
  readonly instrumentedCount: number;
  /** Whether the API server reaches the webhook; undefined until it was tried. */
  readonly webhook: Problem | 'reachable' | undefined;
  /** Whether events and objects are collected; undefined until the telemetry proxy was asked to. */
  readonly telemetry: Problem | 'working' | undefined;
  readonly now: string;
}

/** How many instrumented resources a status lists: some 250 KB, far below etcd's 1.5 MB for an object. */
export const LISTED_RESOURCES = 1_000;

/** The status that a Lumigo should have. Times of conditions whose status stays are kept, so that nothing changes without a cause. */
export function statusOf(input: StatusInput, current: LumigoStatus | undefined): LumigoStatus {
  const known = new Map(current?.conditions?.map((condition) => [condition.type, condition]));
  const conditions = [
    activeCondition(input),
    errorCondition(input),
    ...observed(input.webhook, webhookReachable),
    ...observed(input.telemetry, telemetryReady),
  ].map((condition) => {
    const before = known.get(condition.type);
    const lastTransitionTime = before?.status === condition.status ? before.lastTransitionTime : input.now;
    const generation = input.generation === undefined ? {} : { observedGeneration: input.generation };
    return { ...condition, lastTransitionTime, ...generation };
  });
  return {
    conditions,
    instrumentedResources: input.instrumented,
    instrumentedResourcesCount: input.instrumentedCount,
    ...(input.generation === undefined ? {} : { observedGeneration: input.generation }),
  };
}

type Untimed = Omit<Condition, 'lastTransitionTime' | 'observedGeneration'>;

function activeCondition(input: StatusInput): Untimed {
  if (input.deleting)
    return {
      type: 'Active',
      status: 'False',
      reason: 'Deleting',
      message: `This Lumigo is being deleted${progress(input)}`,
    };
  if (input.problem !== undefined)
    return {
      type: 'Active',
      status: 'False',
      reason: input.problem.reason,
      message: "This Lumigo has an error, see the 'Error' condition",
    };
  return { type: 'Active', status: 'True', reason: 'Ready', message: `Lumigo is ready${progress(input)}` };
}

function errorCondition({ problem }: StatusInput): Untimed {
  if (problem === undefined) return { type: 'Error', status: 'False', reason: 'NoError', message: '' };
  return { type: 'Error', status: 'True', ...problem };
}

const webhookReachable: Untimed = {
  type: 'WebhookReachable',
  status: 'True',
  reason: 'ProbeSucceeded',
  message: 'The API server reaches the injector webhook',
};

const telemetryReady: Untimed = {
  type: 'TelemetryProxyReady',
  status: 'True',
  reason: 'ConfigurationTaken',
  message: 'The telemetry proxy collects what the Lumigo resources ask for',
};

/** A condition on what is seen from outside: none until it was looked at, else the good one or the problem. */
function observed(seen: Problem | string | undefined, good: Untimed): Untimed[] {
  if (seen === undefined) return [];
  return [typeof seen === 'string' ? good : { type: good.type, status: 'False', ...seen }];
}

function progress({ pending, failed }: StatusInput): string {
  const parts = [
    ...(pending > 0 ? [`${pending} ${pending === 1 ? 'workload waits' : 'workloads wait'} for a change`] : []),
    ...(failed > 0
      ? [
          `${failed} ${failed === 1 ? 'workload' : 'workloads'} could not be changed and will be tried again, see their events`,
        ]
      : []),
  ];
  return parts.length === 0 ? '' : `; ${parts.join('; ')}`;
}

/** Whether two statuses say the same, whatever the order of their keys. */
export function sameStatus(a: LumigoStatus | undefined, b: LumigoStatus): boolean {
  return (
    a !== undefined &&
    a.observedGeneration === b.observedGeneration &&
    a.instrumentedResourcesCount === b.instrumentedResourcesCount &&
    sameList(a.conditions, b.conditions, conditionKeys) &&
    sameList(a.instrumentedResources, b.instrumentedResources, resourceKeys)
  );
}

const conditionKeys = ['type', 'status', 'reason', 'message', 'lastTransitionTime', 'observedGeneration'] as const;
const resourceKeys = ['kind', 'name', 'uid', 'resourceVersion'] as const;

function sameList<T>(a: readonly T[] = [], b: readonly T[] = [], keys: readonly (keyof T)[]): boolean {
  return a.length === b.length && a.every((item, index) => keys.every((key) => item[key] === b[index]?.[key]));
}

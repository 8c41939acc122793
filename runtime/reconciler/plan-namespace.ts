import { lumigo as contract } from '../contract.ts';
import type { InstrumentedResource } from '../api/lumigo.ts';
import { least, type Now, type ObservedLumigo, type ObservedNamespace, type ObservedWorkload } from './observed.ts';
import { LISTED_RESOURCES, listInstrumented, planStatus } from './plan-status.ts';
import type { LumigoAction, LumigoContext, PlannedAction } from './plan-status.ts';
import { summarizeTelemetry, type TelemetrySummary } from './plan-telemetry.ts';
import { isContested } from './plan-workload.ts';
import { planWorkloads, type WorkloadsPlan } from './plan-workloads.ts';

export interface NamespacePlan extends WorkloadsPlan {
  readonly received: TelemetrySummary;
  /** At most one per `Lumigo` resource, because the next depends on its result. */
  readonly lumigoActions: readonly LumigoAction[];
}

const never: PlannedAction = { wakeAt: Infinity };
const MAX_TRIES = 5;

export function planNamespace(observed: ObservedNamespace, now: Now): NamespacePlan {
  const workloads = planWorkloads(observed, now);
  const effective = observed.lumigoes.find(({ resource }) => resource.metadata.uid === observed.effective);
  const isListDue = !isListed(effective, observed);
  const received = summarizeTelemetry(observed.workloads, observed.telemetryExpectedWithinMs, now);
  const context = { observed, effective, workloads, isListDue, received: received.summary, now };
  const planned = observed.lumigoes.map((lumigo) => planLumigo(lumigo, context));
  const { policy, credential } = observed;
  // A changed reference is in effect before its Secret is read.
  const lacksToken = policy.kind === 'active' && (credential === undefined || credential.problem !== undefined);
  return {
    ...workloads,
    received: received.summary,
    changes: isListDue || lacksToken ? [] : workloads.changes,
    lumigoActions: planned.flatMap(({ action }) => action ?? []),
    wakeAt: least([workloads.wakeAt, received.wakeAt, ...planned.map(({ wakeAt }) => wakeAt)]),
  };
}

/** Returns whether the status lists all injections, the only trace of the events of a removal, or cannot be written. */
function isListed(effective: ObservedLumigo | undefined, { policy, workloads }: ObservedNamespace): boolean {
  if (effective?.listed === undefined) return effective === undefined;
  const failures = effective.failure?.count ?? 0;
  if (failures >= MAX_TRIES || !['deleting', 'disabled', 'pods'].includes(policy.kind)) return true;
  const listed = new Map(effective.listed.map(({ uid, resourceVersion }) => [uid, resourceVersion]));
  const isThere = (each: InstrumentedResource): boolean => listed.get(each.uid) === each.resourceVersion;
  return listed.size >= LISTED_RESOURCES || listInstrumented(workloads).every(isThere);
}

function planLumigo(lumigo: ObservedLumigo, context: LumigoContext): PlannedAction {
  const { isBusy, failure } = lumigo;
  if (isBusy) return never;
  if (failure !== undefined && failure.retryAt > context.now.ms) return { wakeAt: failure.retryAt };
  const action = planFirst(lumigo, context);
  if (action !== undefined) return { action, ...never };
  const release = isDeleted(lumigo) ? planRelease(lumigo, context) : never;
  if (release.action !== undefined) return release;
  const status = planStatus(lumigo, context);
  return { ...status, wakeAt: Math.min(status.wakeAt, release.wakeAt) };
}

const isDeleted = ({ resource }: ObservedLumigo): boolean => resource.metadata.deletionTimestamp !== undefined;

function planFirst(observed: ObservedLumigo, { effective }: LumigoContext): LumigoAction | undefined {
  const { resource: lumigo, listed } = observed;
  if (isDeleted(observed) && observed !== effective)
    return { kind: 'remove-finalizer', lumigo, reason: 'another Lumigo resource is in effect', leftBehind: [] };
  if (!isDeleted(observed) && lumigo.metadata.finalizers?.includes(contract.finalizer) !== true)
    return { kind: 'add-finalizer', lumigo };
  return observed !== effective || listed !== undefined ? undefined : { kind: 'adopt', lumigo };
}

/** Keeps the finalizer while workloads are queued. A workload that refuses delays it until the deadline only. */
function planRelease({ resource: lumigo }: ObservedLumigo, { observed, now, workloads }: LumigoContext): PlannedAction {
  const { waiting: leftBehind } = workloads;
  const later = leftBehind.map((each) => givenUpAt(each, observed)).filter((until) => until > now.ms);
  // The next leader can post missing events if the list is still in the status.
  if (later.length > 0 || observed.pendingEvents > 0) return { wakeAt: least(later) };
  const reason = leftBehind.length === 0 ? 'no instrumentation is left' : 'the remaining workloads refuse to change';
  return { action: { kind: 'remove-finalizer', lumigo, reason, leftBehind }, ...never };
}

function givenUpAt(workload: ObservedWorkload, { policy, removalDeadlineMs }: ObservedNamespace): number {
  if (workload.failure?.policy === policy) return (workload.failure.refusedSince ?? Infinity) + removalDeadlineMs;
  return isContested(workload, policy) ? -Infinity : Infinity;
}

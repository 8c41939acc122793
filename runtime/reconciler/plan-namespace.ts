import { lumigo as contract } from '../contract.ts';
import type { InstrumentedResource } from '../api/lumigo.ts';
import type { Now, ObservedLumigo, ObservedNamespace, ObservedWorkload } from './observed.ts';
import { LISTED_RESOURCES, listInstrumented, planStatus } from './plan-status.ts';
import type { LumigoAction, LumigoContext, PlannedAction } from './plan-status.ts';
import { summarizeTelemetry, type TelemetrySummary } from './plan-telemetry.ts';
import { isContested } from './plan-workload.ts';
import { planWorkloads, type WorkloadsPlan } from './plan-workloads.ts';

interface NamespacePlan extends WorkloadsPlan {
  readonly received: TelemetrySummary;
  /** At most one per `Lumigo` resource, because the next depends on its result. */
  readonly lumigoes: readonly LumigoAction[];
}

const never: PlannedAction = { wakeAt: Infinity };

export function planNamespace(observed: ObservedNamespace, now: Now): NamespacePlan {
  const workloads = planWorkloads(observed, now);
  const effective = observed.lumigoes.find(({ resource }) => resource.metadata.uid === observed.effective);
  const isListDue = !isListed(effective, observed);
  const received = summarizeTelemetry(observed.workloads, observed.telemetryExpectedWithinMs, now);
  const context = { observed, effective, workloads, isListDue, received: received.summary, now };
  const planned = observed.lumigoes.map((lumigo) => planLumigo(lumigo, context));
  return {
    ...workloads,
    received: received.summary,
    changes: isListDue ? [] : workloads.changes,
    lumigoes: planned.flatMap(({ action }) => action ?? []),
    wakeAt: Math.min(workloads.wakeAt, received.wakeAt, ...planned.map(({ wakeAt }) => wakeAt)),
  };
}

/** Returns whether the status lists everything that is instrumented: the only trace of the events of a removal. */
function isListed(effective: ObservedLumigo | undefined, { policy, workloads }: ObservedNamespace): boolean {
  if (effective === undefined) return true;
  if (effective.listed === undefined) return false;
  if (!['deleting', 'disabled', 'pods'].includes(policy.kind)) return true;
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
function planRelease({ resource: lumigo }: ObservedLumigo, context: LumigoContext): PlannedAction {
  const { observed, now } = context;
  const waiting = context.workloads.waiting.map((workload) => ({ workload, until: givenUpAt(workload, observed) }));
  const later = waiting.flatMap(({ until }) => (until > now.ms ? until : []));
  // The next leader can post missing events if the list is still in the status.
  if (later.length > 0 || observed.pendingEvents > 0) return { wakeAt: Math.min(...later) };
  const leftBehind = waiting.map(({ workload }) => workload);
  const reason = waiting.length === 0 ? 'no instrumentation is left' : 'the remaining workloads refuse to change';
  return { action: { kind: 'remove-finalizer', lumigo, reason, leftBehind }, ...never };
}

function givenUpAt(workload: ObservedWorkload, { policy, removalDeadlineMs }: ObservedNamespace): number {
  const { failure } = workload;
  if (failure?.policy === policy) return (failure.refusedSince ?? Infinity) + removalDeadlineMs;
  return isContested(workload, policy) ? -Infinity : Infinity;
}

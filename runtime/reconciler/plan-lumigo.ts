import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../injection/types.ts';
import type { ObservedLumigo, ObservedNamespace, ObservedWorkload } from './observed.ts';
import { planStatus, type LumigoAction, type LumigoContext, type PlannedAction } from './plan-status.ts';
import { isContested } from './plan-workload.ts';

/** What is to be done about one Lumigo: one thing at most, since the next follows from what comes of it. */
export function planLumigo(lumigo: ObservedLumigo, context: LumigoContext): PlannedAction {
  const { resource, isBusy, failure } = lumigo;
  if (isBusy) return { wakeAt: Infinity };
  if (failure !== undefined && failure.retryAt > context.now.ms) return { wakeAt: failure.retryAt };
  const first = planFirst(lumigo, context);
  if (first !== undefined) return { action: first, wakeAt: Infinity };
  const release = isGoing(resource) ? planRelease(resource, context) : { wakeAt: Infinity };
  if (release.action !== undefined) return release;
  const status = planStatus(lumigo, context);
  return { ...status, wakeAt: Math.min(status.wakeAt, release.wakeAt) };
}

const isGoing = ({ metadata }: LumigoResource): boolean => metadata.deletionTimestamp !== undefined;

/** What comes before anything else: our finalizer, the end of one that another outlives, the list of an earlier leader. */
function planFirst(observed: ObservedLumigo, { acting }: LumigoContext): LumigoAction | undefined {
  const { resource: lumigo, listed } = observed;
  const isHeld = lumigo.metadata.finalizers?.includes(contract.finalizer) === true;
  if (isGoing(lumigo) && observed !== acting)
    return { do: 'remove-finalizer', lumigo, reason: 'another Lumigo resource is in effect', leftBehind: [] };
  if (!isGoing(lumigo) && !isHeld)
    return { do: 'add-finalizer', lumigo, reason: 'its workloads are cleaned up before it is deleted' };
  if (observed === acting && listed === undefined)
    return { do: 'adopt', lumigo, reason: 'an earlier leader may have left a list' };
  return undefined;
}

/**
 * A Lumigo that is deleted goes once nothing is left to do for its workloads. What merely waits for its turn is waited for,
 * however long that takes; what refuses holds it up no longer than the deadline, and is tried again after it is gone.
 */
function planRelease(lumigo: LumigoResource, context: LumigoContext): PlannedAction {
  const { workloads, observed, now } = context;
  const { waiting } = workloads;
  const refusing = waiting.filter((each) => givenUpAt(each, observed) <= now.ms);
  // Should this leader end before all is told, the list in the status tells the next one what is left to tell.
  if (refusing.length < waiting.length || observed.untold > 0)
    return { wakeAt: Math.min(...waiting.map((each) => givenUpAt(each, observed)).filter((at) => at > now.ms)) };
  const reason = waiting.length === 0 ? 'no instrumentation is left' : 'the remaining workloads refuse to change';
  return { action: { do: 'remove-finalizer', lumigo, reason, leftBehind: refusing }, wakeAt: Infinity };
}

/**
 * When nobody waits any longer for a workload, by the monotonic clock: it refuses, or another writer puts it back each time.
 * Infinity for any other.
 */
function givenUpAt(workload: ObservedWorkload, { policy, removalDeadlineMs }: ObservedNamespace): number {
  const { failure, write } = workload;
  if (failure?.policy === policy) return (failure.refusedSince ?? Infinity) + removalDeadlineMs;
  return isContested(workload, policy) && (write?.repeats ?? 0) > 0 ? -Infinity : Infinity;
}

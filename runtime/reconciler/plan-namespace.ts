import { lumigo as contract } from '../contract.ts';
import type { InstrumentedResource, LumigoResource } from '../injection/types.ts';
import { LISTED_RESOURCES, listInstrumented } from './instrumented.ts';
import type { LumigoAction, LumigoContext, Planned } from './lumigo-action.ts';
import type { Now, ObservedLumigo, ObservedNamespace, PlanSettings } from './observed-namespace.ts';
import { planStatus } from './plan-status.ts';
import { isRefusing, planWorkloads, refusingAt, type Progress, type WorkloadChange } from './plan-workloads.ts';

export interface NamespacePlan {
  readonly changes: readonly WorkloadChange[];
  /** At most one for each Lumigo: the next follows from what comes of it. */
  readonly lumigoes: readonly LumigoAction[];
  /** Whether the API server has to be asked if there is really no Lumigo. */
  readonly confirmGone: boolean;
  readonly progress: Progress;
  /** When to plan again should nothing be seen before, by the monotonic clock; Infinity: never. */
  readonly wakeAt: number;
}

/** Should nobody have answered whether there is a Lumigo, it is asked again. */
const CONFIRM_MS = 10_000;

/** What is to be done in a namespace, with reasons: a function of what was seen and of the time, and of nothing else. */
export function planNamespace(observed: ObservedNamespace, settings: PlanSettings, now: Now): NamespacePlan {
  const { policy, isLumigoGone, workloads, lumigoes } = observed;
  const { changes, waiting, confirmGone, progress, wakeAt } = planWorkloads(
    workloads,
    { policy, isLumigoGone },
    now.ms,
  );
  const acting = lumigoes.find(({ resource }) => resource.metadata.uid === observed.acting);
  const isListDue = !isListed(acting, observed);
  const context: LumigoContext = { observed, settings, now, progress, waiting, isListDue };
  const planned = lumigoes.map((lumigo) => planLumigo(lumigo, acting, context));
  return {
    changes: isListDue ? [] : changes,
    lumigoes: planned.flatMap(({ action }) => action ?? []),
    confirmGone,
    progress,
    wakeAt: Math.min(wakeAt, confirmGone ? now.ms + CONFIRM_MS : Infinity, ...planned.map((each) => each.wakeAt)),
  };
}

const nothing: Planned = { wakeAt: Infinity };
const act = (action: LumigoAction): Planned => ({ action, wakeAt: Infinity });

function planLumigo(lumigo: ObservedLumigo, acting: ObservedLumigo | undefined, context: LumigoContext): Planned {
  const { resource, isBusy, failure } = lumigo;
  if (isBusy) return nothing;
  if (failure !== undefined && failure.retryAt > context.now.ms) return { wakeAt: failure.retryAt };
  const isGoing = resource.metadata.deletionTimestamp !== undefined;
  const first = planFinalizer(resource, isGoing, lumigo === acting) ?? planAdoption(lumigo, acting);
  if (first !== undefined) return act(first);
  const release = isGoing ? planRelease(resource, context) : nothing;
  if (release.action !== undefined) return release;
  const { action, wakeAt } = planStatus(lumigo, acting, context);
  return { ...(action === undefined ? {} : { action }), wakeAt: Math.min(wakeAt, release.wakeAt) };
}

function planFinalizer(lumigo: LumigoResource, isGoing: boolean, acts: boolean): LumigoAction | undefined {
  if (isGoing && !acts) return { do: 'remove-finalizer', lumigo, reason: 'another Lumigo acts', leftBehind: [] };
  const isHeld = lumigo.metadata.finalizers?.includes(contract.finalizer) === true;
  if (isGoing || isHeld) return undefined;
  return { do: 'add-finalizer', lumigo, reason: 'its workloads are cleaned up before it goes' };
}

const planAdoption = (lumigo: ObservedLumigo, acting: ObservedLumigo | undefined): LumigoAction | undefined =>
  lumigo === acting && lumigo.listed === undefined
    ? { do: 'adopt', lumigo: lumigo.resource, reason: 'an earlier leader may have left a list' }
    : undefined;

/**
 * A Lumigo that is deleted goes once nothing is left to do for its workloads. What merely waits for its turn is waited for,
 * however long that takes; what refuses holds it up no longer than the deadline, and is tried again after it is gone.
 */
function planRelease(lumigo: LumigoResource, { waiting, settings, observed, now }: LumigoContext): Planned {
  const { policy } = observed;
  const { removalDeadlineMs } = settings;
  const refusing = waiting.filter((each) => isRefusing(each, policy, removalDeadlineMs, now.ms));
  // Should this leader end before all is told, the list in the status tells the next one what is left to tell.
  if (refusing.length < waiting.length || observed.untold > 0)
    return {
      wakeAt: Math.min(
        ...waiting.map((each) => refusingAt(each, policy, removalDeadlineMs)).filter((at) => at > now.ms),
        Infinity,
      ),
    };
  const reason = waiting.length === 0 ? 'nothing of it is left' : 'what is left refuses to change';
  return act({ do: 'remove-finalizer', lumigo, reason, leftBehind: refusing });
}

/**
 * Whether the list in the status says at least what is instrumented: what an earlier leader left is read before anything is
 * added to it, and nothing is taken out that is not on it, because a removal leaves no other trace of what is still to be told.
 */
function isListed(acting: ObservedLumigo | undefined, { policy, workloads }: ObservedNamespace): boolean {
  if (acting === undefined) return true;
  if (acting.listed === undefined) return false;
  if (policy.state !== 'deleting' && policy.state !== 'disabled') return true;
  const listed = new Map(acting.listed.map(({ uid, resourceVersion }) => [uid, resourceVersion]));
  const isOnIt = (each: InstrumentedResource): boolean => listed.get(each.uid) === each.resourceVersion;
  return listed.size >= LISTED_RESOURCES || listInstrumented(workloads).every(isOnIt);
}

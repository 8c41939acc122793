import type { Now, ObservedLumigo, ObservedNamespace } from './observed.ts';
import { planLumigo } from './plan-lumigo.ts';
import { LISTED_RESOURCES, listInstrumented, type LumigoAction } from './plan-status.ts';
import { planWorkloads, type WorkloadsPlan } from './plan-workloads.ts';

interface NamespacePlan extends WorkloadsPlan {
  /** At most one for each Lumigo: the next follows from what comes of it. */
  readonly lumigoes: readonly LumigoAction[];
}

/** Should nobody have answered whether there is a Lumigo, it is asked again. */
const CONFIRM_MS = 10_000;

/** What is to be done in a namespace, with reasons: a function of what was seen and of the time, and of nothing else. */
export function planNamespace(observed: ObservedNamespace, now: Now): NamespacePlan {
  const workloads = planWorkloads(observed, now);
  const acting = observed.lumigoes.find(({ resource }) => resource.metadata.uid === observed.acting);
  const isListDue = !isListed(acting, observed);
  const context = { observed, acting, workloads, isListDue, now };
  const planned = observed.lumigoes.map((lumigo) => planLumigo(lumigo, context));
  const confirmAt = workloads.confirmGone ? now.ms + CONFIRM_MS : Infinity;
  return {
    ...workloads,
    changes: isListDue ? [] : workloads.changes,
    lumigoes: planned.flatMap(({ action }) => action ?? []),
    wakeAt: Math.min(workloads.wakeAt, confirmAt, ...planned.map(({ wakeAt }) => wakeAt)),
  };
}

/** Whether the injections of a namespace's workloads go. */
const takesOut = ({ state }: ObservedNamespace['policy']): boolean =>
  state === 'deleting' || state === 'disabled' || state === 'pods';

/**
 * Whether the list in the status says at least what is instrumented: what an earlier leader left is read before anything is
 * added to it, and nothing is taken out that is not on it, because a removal leaves no other trace of what is still to be told.
 */
function isListed(acting: ObservedLumigo | undefined, { policy, workloads }: ObservedNamespace): boolean {
  if (acting === undefined) return true;
  if (acting.listed === undefined) return false;
  if (!takesOut(policy)) return true;
  const listed = new Map(acting.listed.map(({ uid, resourceVersion }) => [uid, resourceVersion]));
  return (
    listed.size >= LISTED_RESOURCES ||
    listInstrumented(workloads).every(({ uid, resourceVersion }) => listed.get(uid) === resourceVersion)
  );
}

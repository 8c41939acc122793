import { ATTRIBUTION_MS, TRIAL_MS } from '../rollout/rollout-of.ts';
import type { Reverted } from '../rollout/rollout.ts';
import type { ObservedPod } from '../rollout/trial.ts';
import type { Now, ObservedNamespace, ObservedRollout, ObservedWorkload } from './observed.ts';
import { check, isFresh, podsOf, type Step, type With } from './rollout-step.ts';

/** An eviction that a disruption budget forbids is asked for again after so long. */
export const EVICTION_MS = 10_000;

/** A StatefulSet's controller waits for a pod that is not ready before it replaces it, also by what its template was before. */
export const waitsForBroken = ({ kind }: ObservedWorkload): boolean => kind.kind === 'StatefulSet';

/** What was put back is to run again: then the injection was at fault. What does not would not have either way. */
export function planReverted(workload: With<Reverted>, { rollout }: ObservedNamespace, now: Now): Step {
  const { shape, note, isOpen } = workload.rollout;
  if (!isOpen) return {};
  const since = Date.parse(now.iso) - Date.parse(note.at);
  const broken = brokenOf(workload, rollout.pods);
  if (broken.length > 0) return since > TRIAL_MS ? over(workload) : { broken, wakeAt: now.ms + EVICTION_MS };
  const runs = shape.blocked === undefined && shape.refused === undefined;
  return runs ? over(workload) : planFailing(workload, rollout, now);
}

/** It does not run yet: its pods are still being replaced, or it fails without the injection as well. */
function planFailing(workload: With<Reverted>, { pods, settings }: ObservedRollout, now: Now): Step {
  const { rollout } = workload;
  // Who is paused shows nothing; and the pods that its controller waits for have to be known.
  if (rollout.shape.blocked?.reason === 'Paused' || (pods === undefined && waitsForBroken(workload)))
    return check(workload, rollout.checkAt, now);
  const failsAt = rollout.progress.at + Math.max(ATTRIBUTION_MS, settings.deadlineMs);
  if (now.ms <= failsAt) return check(workload, Math.min(rollout.checkAt, failsAt), now);
  return isFresh(rollout, now)
    ? { step: { workload, reason: 'it also fails without the injection', task: { do: 'forgive' } } }
    : check(workload, now.ms, now);
}

function brokenOf(workload: ObservedWorkload, pods: ObservedNamespace['rollout']['pods']): ObservedPod[] {
  const own = waitsForBroken(workload) ? (pods?.get(podsOf(workload)) ?? []) : [];
  return own.filter(({ record, readySince }) => record !== undefined && readySince === undefined);
}

const over = (workload: With<Reverted>): Step => ({ noted: [workload, { ...workload.rollout, isOpen: false }] });

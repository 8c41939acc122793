import { setUnlessZero, type Metrics } from '../observability/metrics.ts';
import type { NamespacePlan } from './plan-namespace.ts';

interface Shown extends Pick<NamespacePlan, 'received' | 'progress'> {
  readonly rollout: Pick<NamespacePlan['rollout'], 'summary'>;
}

export function showPlan(metrics: Metrics, namespace: string, { rollout, received, progress }: Shown): void {
  const { underWay, queued, blocked, reverted, halted } = rollout.summary;
  const states = { underWay: underWay.length, queued, blocked: blocked.length, reverted: reverted.length };
  for (const [state, number] of Object.entries(states))
    setUnlessZero(metrics.rolloutWorkloads, { namespace, state }, number);
  for (const [telemetry, number] of Object.entries({ ...received, silent: received.silent.length }))
    setUnlessZero(metrics.telemetryWorkloads, { namespace, telemetry }, number);
  setUnlessZero(metrics.rolloutHalted, { namespace }, halted === undefined ? 0 : 1);
  setUnlessZero(metrics.pendingChanges, { namespace }, progress.pending + queued);
}

/** From the end of its term on, a replica reports nothing. */
export function resetShown(metrics: Metrics): void {
  const { rolloutWorkloads, telemetryWorkloads, rolloutHalted, pendingChanges, webhookReachable } = metrics;
  for (const gauge of [rolloutWorkloads, telemetryWorkloads, rolloutHalted, pendingChanges]) gauge.reset();
  webhookReachable.remove();
}

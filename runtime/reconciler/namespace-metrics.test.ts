import { expect, it } from '@jest/globals';
import { createMetrics } from '../observability/metrics.ts';
import { resetShown, showPlan } from './namespace-metrics.ts';
import { noRollout } from './plan-rollout.ts';
import { noTelemetry } from './plan-telemetry.ts';
import { noProgress } from './plan-workloads.ts';

it('the metrics show the plan of each namespace, without zeros, until the end of the term', async () => {
  const metrics = createMetrics();
  const { rolloutWorkloads, rolloutHalted, telemetryWorkloads, pendingChanges, webhookReachable } = metrics;
  const getShown = async () => {
    const gauges = [rolloutWorkloads, rolloutHalted, telemetryWorkloads, pendingChanges, webhookReachable];
    const found = await Promise.all(gauges.map((gauge) => gauge.get()));
    return found.map(({ values }) => values.map(({ labels, value }) => [...Object.values(labels), value].join(' ')));
  };
  const one = [{}] as never;
  const summary = { ...noRollout, underWay: one, queued: 3, blocked: one, reverted: one, halted: 'two failed' };
  const progress = { ...noProgress, pending: 2 };
  const received = { received: 3, awaited: 2, silent: one };
  webhookReachable.set(1);
  showPlan(metrics, 'shop', { rollout: { summary }, progress, received });
  showPlan(metrics, 'idle', { rollout: { summary: noRollout }, progress: noProgress, received: noTelemetry });
  expect(await getShown()).toEqual([
    ['shop underWay 1', 'shop queued 3', 'shop blocked 1', 'shop reverted 1'],
    ['shop 1'],
    ['shop received 3', 'shop awaited 2', 'shop silent 1'],
    ['shop 5'],
    ['1'],
  ]);
  resetShown(metrics);
  expect(await getShown()).toEqual([[], [], [], [], []]);
});

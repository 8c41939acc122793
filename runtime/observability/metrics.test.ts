import { describe, expect, it } from '@jest/globals';
import { paths } from '../contract.ts';
import { createMetrics } from './metrics.ts';

describe('a counter that alerts or the dashboard compare over time', () => {
  const text = createMetrics().registry.metrics();

  it.each([
    ...[paths.inject, paths.lumigoes].flatMap((webhook) =>
      ['patched', 'unchanged', 'refused', 'failed'].map(
        (outcome) => `admission_reviews_total{webhook="${webhook}",outcome="${outcome}"}`,
      ),
    ),
    ...['taken', 'failed'].map((outcome) => `telemetry_proxy_reloads_total{outcome="${outcome}"}`),
    ...['added', 'updated', 'removed'].map((change) => `workload_changes_total{change="${change}"}`),
    ...['InjectorImage', 'InjectorFailed', 'Crash', 'PodsRefused', 'NotReady'].map(
      (cause) => `reverts_total{cause="${cause}"}`,
    ),
    'missed_injections_total',
  ])('begins at zero, so its first increase is seen: %s', async (series) => {
    expect(await text).toContain(`lumigo_operator_${series} 0\n`);
  });
});

import { describe, expect, it } from '@jest/globals';
import { paths } from '../contract.ts';
import { createMetrics } from './metrics.ts';

describe('the counters that alerts compare over time', () => {
  const text = createMetrics().registry.metrics();

  it.each([paths.inject, paths.lumigoes])('count reviews of %s from zero before the first one', async (webhook) => {
    for (const outcome of ['patched', 'unchanged', 'refused', 'failed'])
      expect(await text).toContain(
        `lumigo_operator_admission_reviews_total{webhook="${webhook}",outcome="${outcome}"} 0\n`,
      );
  });

  it.each(['taken', 'failed'])('count reloads that are %s from zero before the first one', async (outcome) => {
    expect(await text).toContain(`lumigo_operator_telemetry_proxy_reloads_total{outcome="${outcome}"} 0\n`);
  });
});

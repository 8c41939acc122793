import { describe, expect, it } from '@jest/globals';
import { paths } from '../contract.ts';
import { createMetrics } from './metrics.ts';

describe('what is alerted on by its rise', () => {
  const text = createMetrics().registry.metrics();

  it.each([paths.inject, paths.lumigoes])('reviews of %s are there before the first', async (webhook) => {
    for (const outcome of ['patched', 'unchanged', 'refused', 'failed'])
      expect(await text).toContain(
        `lumigo_operator_admission_reviews_total{webhook="${webhook}",outcome="${outcome}"} 0\n`,
      );
  });

  it.each(['taken', 'failed'])('reloads that are %s are there before the first', async (outcome) => {
    expect(await text).toContain(`lumigo_operator_telemetry_proxy_reloads_total{outcome="${outcome}"} 0\n`);
  });
});

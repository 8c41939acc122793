import { describe, expect, it } from '@jest/globals';
import { paths } from '../contract.ts';
import { createMetrics } from './metrics.ts';

it.each(['reachable', 'certificate_expiry_timestamp_seconds', 'certificate_renewal_timestamp_seconds'])(
  'the webhook has no series before the first value, so no alert fires: %s',
  async (name) => {
    const text = await createMetrics().registry.metrics();
    expect(text).toContain(`# TYPE lumigo_operator_webhook_${name} gauge\n`);
    expect(text).not.toContain(`\nlumigo_operator_webhook_${name} `);
  },
);

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

import { describe, expect, it } from '@jest/globals';
import { active, changed, decided, instrumented, made, withMetadata } from '../../sandbox/testing/injection.ts';
import type { LabelSelector } from '../api/label-selector.ts';
import { labels } from '../contract.ts';
import { uninstrument } from './remove.ts';

const under = (selector: LabelSelector) => ({ policy: { ...active, selector } });
const web = { matchLabels: { tier: 'web' } };
const selected = made({ labels: { tier: 'web' } });
const notSelected = { kind: 'none', tried: 'nothing', code: 'not-selected' };

describe('the selector of a Lumigo', () => {
  it.each(['CREATE', 'UPDATE', 'RECONCILE'] as const)('narrows the injection in a review of %s', (operation) => {
    expect(decided(selected, { ...under(web), operation }).kind).toBe('inject');
    expect(decided(made(), { ...under(web), operation })).toMatchObject(notSelected);
  });

  it('removes the injection from a workload that it no longer selects, exactly', () => {
    const injected = instrumented(selected);
    const removed = decided(injected, under({ matchLabels: { tier: 'back' } }));
    expect(removed).toMatchObject({ kind: 'remove', tried: 'remove' });
    expect(changed(removed)).toEqual(selected);
    const relabelled = withMetadata(injected, { labels: { ...injected.metadata.labels, tier: 'back' } });
    expect(changed(decided(relabelled, under(web)))).toEqual(uninstrument(relabelled));
  });

  it("reads the user's own labels, so that the operator's label never moves a workload out or in", () => {
    const byLabel = under({ matchLabels: { [labels.autoTrace]: 'true' } });
    const injected = instrumented(made({ labels: { [labels.autoTrace]: 'true' } }), byLabel);
    expect(decided(injected, byLabel).code).toBe('up-to-date');
    const unlabelled = under({ matchExpressions: [{ key: labels.autoTrace, operator: 'DoesNotExist' }] });
    expect(decided(instrumented(made(), unlabelled), unlabelled).code).toBe('up-to-date');
  });

  it('does not win over an opt-out', () => {
    const out = made({ labels: { tier: 'web', [labels.autoTrace]: 'false' } });
    expect(decided(out, under(web)).code).toBe('opted-out');
  });
});

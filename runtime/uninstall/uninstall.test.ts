import { describe, expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { bounded, whyStuck } from './uninstall.ts';

const lumigo = (more: object = {}): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'shop', name: 'a', uid: 'a', finalizers: [contract.finalizer], ...more },
});
const deleting = { deletionTimestamp: '2026-11-20T10:00:00Z' };

describe('--uninstall', () => {
  it.each([
    [{ ...deleting, finalizers: ['other.io/x'] }, undefined, 'finalizers of other controllers keep it: other.io/x'],
    [{}, 'forbidden', 'it could not be deleted; forbidden'],
    [deleting, undefined, 'the injection is still being removed from its workloads'],
  ])('names a Lumigo resource that is stuck, and why', (stuck, failure, expected) =>
    expect(whyStuck(lumigo(stuck), failure)).toBe(`shop/a: ${expected}`),
  );

  it('keeps no owners and labels of a Lumigo resource in memory, and few finalizers [F66]', () => {
    const long = 'x'.repeat(100_000);
    const finalizers = Array.from({ length: 1_000 }, (_, index) => `other.io/${index}`);
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: long, uid: 'x' }];
    const kept = bounded(lumigo({ ...deleting, finalizers, ownerReferences, labels: { long } }));
    expect(JSON.stringify(kept).length).toBeLessThan(1_000);
    const spec = { tracing: { injection: { selector: { matchLabels: { [long.slice(0, 30_000)]: 'a' } } } } };
    expect(bounded({ ...lumigo({ ...deleting, finalizers }), spec }).spec).toBeUndefined();
    expect(bounded({ ...lumigo(), spec }).spec).toEqual(spec);
    expect(whyStuck(kept)).toContain('finalizers of other controllers keep it: other.io/0, other.io/1, ');
  });
});

import { describe, expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { whyStuck } from './uninstall.ts';

const lumigo = (more: object = {}): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'shop', name: 'a', uid: 'a', finalizers: [contract.finalizer], ...more },
});
const deleting = { deletionTimestamp: '2026-11-20T10:00:00Z' };

describe('--uninstall', () => {
  it.each([
    [
      lumigo({ ...deleting, finalizers: ['other.io/x'] }),
      undefined,
      'finalizers of other controllers keep it: other.io/x',
    ],
    [lumigo(), 'forbidden', 'it could not be deleted; forbidden'],
    [lumigo(deleting), undefined, 'the injection is still being removed from its workloads'],
  ])('names a Lumigo resource that is stuck, and why', (stuck, failure, expected) => {
    expect(whyStuck(stuck, failure)).toBe(`shop/a: ${expected}`);
  });
});

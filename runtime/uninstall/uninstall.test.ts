import { describe, expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { isManagerAlive } from './lease.ts';
import { whyStuck } from './uninstall.ts';

const lumigo = (more: object = {}): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'shop', name: 'a', uid: 'a', finalizers: [contract.finalizer], ...more },
});
const deleting = { deletionTimestamp: '2026-11-20T10:00:00Z' };

describe('--uninstall', () => {
  it('expects a manager to answer if its Lease was renewed recently', () => {
    const now = Date.parse('2026-11-20T10:00:30Z');
    const lease = { holderIdentity: 'pod', leaseDurationSeconds: 15, renewTime: '2026-11-20T10:00:01.000000Z' };
    expect(isManagerAlive(lease, now)).toBe(true);
    expect(isManagerAlive({ ...lease, renewTime: '2026-11-20T09:59:59.000000Z' }, now)).toBe(false);
    expect(isManagerAlive({ ...lease, holderIdentity: '' }, now)).toBe(false);
    expect(isManagerAlive(undefined, now)).toBe(false);
  });

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

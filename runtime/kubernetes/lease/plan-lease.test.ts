import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { heldSpec, type Lease, planLease, releasedSpec, seeLease } from './plan-lease.ts';

const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 5_000 };
const lease = (spec: Lease['spec'] | undefined, resourceVersion = '1'): Lease => ({
  metadata: { resourceVersion },
  ...(spec === undefined ? {} : { spec }),
});
const heldByA = { holderIdentity: 'a', leaseDurationSeconds: 15, renewTime: '2030-01-01T00:00:00.000000Z' };

describe('planLease', () => {
  it('creates a missing Lease', () => expect(planLease(undefined, 0, 'b', times)).toBe(0));

  it.each([
    ['given back', { ...heldByA, holderIdentity: '' }],
    ['that was never held', undefined],
    ['of its own earlier life', { ...heldByA, holderIdentity: 'b' }],
  ])('takes a Lease %s at once', (_what, spec) =>
    expect(planLease({ lease: lease(spec), since: 0 }, 0, 'b', times)).toBe(0),
  );

  it("takes another holder's Lease only after its duration since its last seen change, whatever the holder's clock", () => {
    const clocks = fc.constantFrom('1970-01-01T00:00:00.000000Z', '2999-01-01T00:00:00.000000Z');
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
        fc.nat(120_000),
        fc.nat(120_000),
        clocks,
        (seconds, since, now, renewTime) => {
          const duration = seconds === undefined ? {} : { leaseDurationSeconds: seconds };
          const seen = { lease: lease({ holderIdentity: 'a', renewTime, ...duration }), since };
          const leftMs = since + (seconds ?? 15) * 1000 - now;
          expect(planLease(seen, now, 'b', times)).toBe(Math.max(0, Math.min(leftMs, 5_000)));
        },
      ),
    );
  });
});

describe('seeLease', () => {
  it('counts from the last change', () => {
    const first = seeLease(undefined, lease(heldByA, '1'), 100);
    expect(seeLease(first, lease(heldByA, '1'), 200).since).toBe(100);
    expect(seeLease(first, lease(heldByA, '2'), 300).since).toBe(300);
  });
});

describe('the written Lease', () => {
  const now = new Date('2030-01-01T00:00:05.120Z');

  it('has the number of the transition and its time, and keeps its other fields', () =>
    expect(
      heldSpec({ ...heldByA, leaseTransitions: 4, acquireTime: 'earlier', strategy: 's' }, 'b', times, now),
    ).toEqual({
      strategy: 's',
      holderIdentity: 'b',
      leaseDurationSeconds: 15,
      acquireTime: '2030-01-01T00:00:05.120000Z',
      renewTime: '2030-01-01T00:00:05.120000Z',
      leaseTransitions: 5,
    }));

  it('has a new time and no other change on a renewal', () => {
    const before = heldSpec(undefined, 'b', times, now);
    expect(before.leaseTransitions).toBe(0);
    const later = new Date('2030-01-01T00:00:10Z');
    expect(heldSpec(before, 'b', times, later)).toEqual({ ...before, renewTime: '2030-01-01T00:00:10.000000Z' });
  });

  it('has no holder after a release, keeps its other fields, and can be taken at once', () => {
    const spec = releasedSpec({ ...heldByA, leaseTransitions: 4 }, now);
    expect(spec).toMatchObject({ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 4 });
    expect(planLease({ lease: lease(spec), since: 0 }, 0, 'b', times)).toBe(0);
  });
});

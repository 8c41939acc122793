import { describe, expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../injection/types.ts';
import { isManagerAlive, planUninstall, whyStuck } from './plan-uninstall.ts';

const lumigo = (name: string, more: object = {}): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'shop', name, uid: name, finalizers: [contract.finalizer], ...more },
});
const deleting = { deletionTimestamp: '2026-11-20T10:00:00Z' };

describe('the uninstall plan', () => {
  const left = [
    lumigo('fresh'),
    lumigo('held', deleting),
    lumigo('foreign', { ...deleting, finalizers: ['other.io/x'] }),
  ];

  it('deletes what is not being deleted, and leaves the finalizers to a manager that lives', () => {
    const { toDelete, toRelease } = planUninstall(left, true);
    expect(toDelete.map(({ metadata }) => metadata.name)).toEqual(['fresh']);
    expect(toRelease).toEqual([]);
  });

  it('D42: releases what only our finalizer holds where no manager lives', () => {
    const { toRelease } = planUninstall(left, false);
    expect(toRelease.map(({ metadata }) => metadata.name)).toEqual(['held']);
  });

  it('takes a manager for alive as long as its Lease was renewed lately', () => {
    const now = Date.parse('2026-11-20T10:00:30Z');
    const lease = { holderIdentity: 'pod', leaseDurationSeconds: 15, renewTime: '2026-11-20T10:00:01.000000Z' };
    expect(isManagerAlive(lease, now)).toBe(true);
    expect(isManagerAlive({ ...lease, renewTime: '2026-11-20T09:59:59.000000Z' }, now)).toBe(false);
    expect(isManagerAlive({ ...lease, holderIdentity: '' }, now)).toBe(false);
    expect(isManagerAlive(undefined, now)).toBe(false);
  });

  it('says why each is stuck', () => {
    expect(whyStuck(lumigo('a', { ...deleting, finalizers: ['other.io/x'] }), [])).toBe(
      'shop/a: finalizers of other controllers keep it: other.io/x',
    );
    expect(whyStuck(lumigo('a'), ['forbidden'])).toBe('shop/a: it could not be deleted; forbidden');
    expect(whyStuck(lumigo('a', deleting), [])).toBe('shop/a: the injection is still being removed from its workloads');
  });
});

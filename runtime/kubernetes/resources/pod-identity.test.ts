import { describe, expect, it } from '@jest/globals';
import type { Workload } from '../../api/objects.ts';
import { isPodOf } from './pod-identity.ts';

const cart = (kind: string): Workload => ({ apiVersion: 'apps/v1', kind, metadata: { name: 'cart', uid: 'u1' } });

describe('a pod', () => {
  it.each<[string, string, object, boolean]>([
    ['is of the StatefulSet that owns it', 'StatefulSet', { kind: 'StatefulSet', name: 'cart', uid: 'u1' }, true],
    ['is not of an earlier one of that name', 'StatefulSet', { kind: 'StatefulSet', name: 'cart', uid: 'u0' }, false],
    ['is of the Deployment of its ReplicaSet', 'Deployment', { kind: 'ReplicaSet', name: 'cart-7f9c' }, true],
    ['is of the Rollout of its ReplicaSet', 'Rollout', { kind: 'ReplicaSet', name: 'cart-7f9c' }, true],
    ['is of the CronJob of its Job', 'CronJob', { kind: 'Job', name: 'cart-29391000' }, true],
    ['is not of a Deployment with a similar name', 'Deployment', { kind: 'ReplicaSet', name: 'cart-b-7f9c' }, false],
    ['is not of a CronJob with a similar name', 'CronJob', { kind: 'Job', name: 'cart-restore' }, false],
    ['is not of a ReplicaSet with a similar name', 'ReplicaSet', { kind: 'ReplicaSet', name: 'cart-7f9c' }, false],
  ])('%s', (_title, kind, owner, expected) => {
    const ownerReferences = [{ apiVersion: 'apps/v1', kind: '', name: '', uid: 'u2', ...owner }];
    expect(isPodOf(cart(kind), { ownerReferences })).toBe(expected);
  });
});

import { describe, expect, it } from '@jest/globals';
import { observePod } from './observe-pod.ts';

const owned = (kind: string, name: string, labels: Record<string, string> = {}, more: object = {}) => ({
  name: 'p',
  labels,
  ownerReferences: [{ apiVersion: 'v1', kind, name, uid: 'u', controller: true }],
  ...more,
});

describe('a pod', () => {
  it.each([
    [
      'is a Deployment’s through its ReplicaSet',
      owned('ReplicaSet', 'cart-5f', { 'pod-template-hash': '5f' }),
      'Deployment/cart',
    ],
    ['is an Argo Rollout’s', owned('ReplicaSet', 'cart-5f', { 'rollouts-pod-template-hash': '5f' }), 'Rollout/cart'],
    ['is a ReplicaSet’s own', owned('ReplicaSet', 'cart-5f'), 'ReplicaSet/cart-5f'],
    ['is a StatefulSet’s', owned('StatefulSet', 'db'), 'StatefulSet/db'],
    ['is nobody’s', { name: 'p' }, undefined],
  ])('%s', (_title, metadata, of) => expect(observePod({ metadata })?.of).toBe(of));

  const ready = { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: '1970-01-01T00:00:05Z' }] };
  it('is ready since a time, and not any more once it goes', () => {
    const metadata = owned('StatefulSet', 'db', {}, { annotations: { 'operator.lumigo.io/injection': '{}' } });
    expect(observePod({ metadata, status: ready })?.pod).toMatchObject({ readySince: 5_000, record: '{}' });
    const going = { ...metadata, deletionTimestamp: '1970-01-01T00:00:06Z' };
    expect(observePod({ metadata: going, status: ready })).toBeUndefined();
  });
});

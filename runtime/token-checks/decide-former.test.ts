import { describe, expect, it } from '@jest/globals';
import { isFormer, toRestart } from './decide-former.ts';

const secret = { name: 'lumigo-credentials', key: 'token' };
const until = '2026-11-22T10:00:00Z';

const container = (name: string, ref: object = secret) => ({
  name,
  env: [{ name: 'LUMIGO_TRACER_TOKEN', valueFrom: { secretKeyRef: ref } }],
});
const running = (name: string, startedAt: string) => ({ name, state: { running: { startedAt } } });
const pod = (containers: object[], containerStatuses: object[], metadata: object = {}) =>
  ({ metadata: { name: 'cart-1', ...metadata }, spec: { containers }, status: { containerStatuses } }) as never;

describe('F29: a pod sends the token that was replaced', () => {
  it.each([
    ['if it started before', pod([container('app')], [running('app', '2026-11-22T09:00:00Z')]), true],
    ['not if it started after', pod([container('app')], [running('app', '2026-11-22T10:00:01Z')]), false],
    ['not if clocks may say so alone', pod([container('app')], [running('app', '2026-11-22T09:59:58Z')]), false],
    [
      'not if it is on its way out',
      pod([container('app')], [running('app', '2026-11-22T09:00:00Z')], { deletionTimestamp: until }),
      false,
    ],
    ['not if it does not run', pod([container('app')], [{ name: 'app', state: { waiting: {} } }]), false],
    [
      'not if it takes another',
      pod([container('app', { name: 'own', key: 'token' })], [running('app', '2026-11-22T09:00:00Z')]),
      false,
    ],
    [
      'not if it has one of its own',
      pod(
        [{ name: 'app', env: [{ name: 'LUMIGO_TRACER_TOKEN', value: 'own' }] }],
        [running('app', '2026-11-22T09:00:00Z')],
      ),
      false,
    ],
    [
      'not if only what is not injected started before',
      pod(
        [container('app'), { name: 'mesh' }],
        [running('app', '2026-11-22T10:00:01Z'), running('mesh', '2026-11-22T09:00:00Z')],
      ),
      false,
    ],
    [
      'if one of its containers did',
      pod(
        [container('app'), container('web')],
        [running('app', '2026-11-22T10:00:01Z'), running('web', '2026-11-22T09:00:00Z')],
      ),
      true,
    ],
  ])('%s', (_case, seen, expected) => {
    expect(isFormer(seen, secret, { until })).toBe(expected);
  });

  it('that was there for a while only, if it started then', () => {
    const startedAt = (time: string) => pod([container('app')], [running('app', `2026-11-22T${time}Z`)]);
    const replaced = { since: '2026-11-22T09:00:00Z', until };
    expect(isFormer(startedAt('08:00:00'), secret, replaced)).toBe(false);
    expect(isFormer(startedAt('09:30:00'), secret, replaced)).toBe(true);
  });
});

describe('what somebody would restart', () => {
  const owned = (kind: string, name: string, labels: Record<string, string> = {}) => ({
    metadata: {
      name: 'p',
      labels,
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Other', name: 'o', uid: 'o' },
        { apiVersion: 'v1', kind, name, uid: 'u', controller: true },
      ],
    },
  });
  it.each([
    [owned('ReplicaSet', 'cart-5b7f', { 'pod-template-hash': '5b7f' }), 'Deployment/cart'],
    [owned('ReplicaSet', 'cart-5b7f', { 'rollouts-pod-template-hash': '5b7f' }), 'Rollout/cart'],
    [owned('ReplicaSet', 'cart-5b7f'), 'ReplicaSet/cart-5b7f'],
    [owned('StatefulSet', 'db'), 'StatefulSet/db'],
    [{ metadata: { name: 'p' } }, 'Pod/p'],
  ])('%j is %s', (seen, expected) => {
    expect(toRestart(seen)).toBe(expected);
  });
});

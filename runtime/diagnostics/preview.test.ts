import { expect, it } from '@jest/globals';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { policyIn } from './preview.ts';

const lumigo = (metadata: object): LumigoResource => ({
  apiVersion: contract.apiVersion,
  kind: contract.kind,
  metadata: { namespace: 'shop', name: 'lumigo', uid: 'l', finalizers: [contract.finalizer], ...metadata },
});

it.each([
  ['a Lumigo', {}, 'excluded'],
  ['a deleted Lumigo', { deletionTimestamp: '2026-01-01T00:00:00Z' }, 'deleting'],
])('uses the policy of the manager for an excluded namespace with %s', (_title, metadata, kind) => {
  const store = new LumigoStore(['shop']);
  store.upsert(lumigo(metadata));
  const policy = policyIn('shop', [lumigo(metadata)], { isExcluded: (each) => each === 'shop' });
  expect(policy).toEqual(store.policy('shop'));
  expect(policy.kind).toBe(kind);
});

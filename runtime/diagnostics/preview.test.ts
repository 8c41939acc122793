import { expect, it } from '@jest/globals';
import { instrumented, withMetadata } from '../../sandbox/testing/injection.ts';
import { lumigo as contract, workloadKinds } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { assumedConfig } from '../installation/assumed.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { policyIn } from './preview.ts';
import { decisionOn } from './verdict.ts';

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
  const policy = policyIn('shop', [lumigo(metadata)], { ...assumedConfig, excludedNamespaces: ['shop'] });
  expect(policy).toEqual(store.policy('shop'));
  expect(policy.kind).toBe(kind);
});

it('announces no change of a workload that the operator does not read', () => {
  const unmarked = withMetadata(instrumented(), { labels: { app: 'app' }, annotations: {} });
  const policy = { kind: 'disabled', lumigo: 'lumigo', remove: true } as const;
  expect(decisionOn(workloadKinds.deployment, unmarked, policy, assumedConfig)).toMatchObject({
    kind: 'none',
    message: 'Not changed: no Lumigo resource in its namespace is active',
  });
});

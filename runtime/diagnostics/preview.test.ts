import { expect, it } from '@jest/globals';
import { instrumented, withMetadata } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import { assumedConfig } from '../installation/assumed.ts';
import { toStore } from './preview.ts';
import { decisionOn } from './verdict.ts';

it.each(['shop', assumedConfig.operatorNamespace])('never injects in %s, like the manager', (namespace) => {
  const store = toStore([], { ...assumedConfig, excludedNamespaces: ['shop'] });
  expect(store.policy(namespace)).toEqual({ kind: 'excluded' });
});

it('announces no change of a workload that the operator does not read', () => {
  const unmarked = withMetadata(instrumented(), { labels: { app: 'app' }, annotations: {} });
  const policy = { kind: 'disabled', lumigo: 'lumigo', remove: true } as const;
  expect(decisionOn(workloadKinds.deployment, unmarked, policy, assumedConfig)).toMatchObject({
    kind: 'none',
    message: 'Not changed: no Lumigo resource in its namespace is active',
  });
});

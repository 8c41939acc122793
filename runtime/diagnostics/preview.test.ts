import { expect, it } from '@jest/globals';
import { instrumented, made, withMetadata } from '../../sandbox/testing/injection.ts';
import { workloadKinds } from '../contract.ts';
import { assumedConfig } from '../installation/assumed.ts';
import { withRevert } from '../injection/revert.ts';
import { assumedPolicy, toStore } from './preview.ts';
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

it.each([
  [true, 'reverted'],
  [undefined, 'injected'],
] as const)('counts the revert of an unknown program if the injector is only assumed (%s)', (isAssumed, code) => {
  const revert = { at: '2026-01-01T00:00:00Z', cause: 'Crash', attempt: 1, key: '0123456789abcdef', evidence: 'boom' };
  const reverted = withMetadata(made(), withRevert(made().metadata, revert));
  const config = { ...assumedConfig, ...(isAssumed && { isAssumed }) };
  expect(decisionOn(workloadKinds.deployment, reverted, assumedPolicy, config)).toHaveProperty('code', code);
});

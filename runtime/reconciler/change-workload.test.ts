import { expect, it } from '@jest/globals';
import { decided, instrumented, made, withMetadata } from '../../sandbox/testing/injection.ts';
import { labels } from '../contract.ts';
import { withRevert } from '../injection/revert.ts';
import { isLeftBehind } from './change-workload.ts';

const revert = { at: 'now', cause: 'Crash', attempt: 1, key: '0'.repeat(16), evidence: 'it crashed' };
const label = (value: string) => ({ labels: { [labels.autoTrace]: value } });

it.each([
  ['an injection', instrumented(), true],
  ['the record of a revert', withMetadata(made(), withRevert(made().metadata, revert)), true],
  ['an injection that is opted out', withMetadata(instrumented(), label('false')), false],
  ['nothing, if the workload opts in', made(label('true')), false],
])('asks for a Lumigo before it removes %s from a namespace without one', (_what, workload, asks) => {
  const decision = decided(workload, { policy: { kind: 'none' } });
  expect(decision.kind).not.toBe('none');
  expect(isLeftBehind(decision)).toBe(asks);
});

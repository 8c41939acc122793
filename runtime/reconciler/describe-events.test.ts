import { describe, expect, it } from '@jest/globals';
import { guardAnswer, workloadKinds } from '../contract.ts';
import type { Condition, LumigoResource } from '../api/lumigo.ts';
import { contested, refused, turnedFalse } from './describe-events.ts';
import { observeWorkload } from './workload-store.ts';

const condition = (
  type: string,
  status: Condition['status'],
  lastTransitionTime = '2026-11-22T10:00:00Z',
): Condition => ({ type, status, lastTransitionTime, reason: 'Because', message: 'of this' });
const lumigo = (...conditions: Condition[]): LumigoResource => ({
  apiVersion: 'operator.lumigo.io/v1alpha1',
  kind: 'Lumigo',
  status: { conditions },
  metadata: { namespace: 'shop', name: 'lumigo', uid: 'l', resourceVersion: '1' },
});
const halted = { ...condition('RolledOut', 'False'), reason: 'Halted' };

describe("a Lumigo's condition [F29]", () => {
  it('is an event when it turns false', () => {
    const events = turnedFalse(lumigo(), {
      conditions: [condition('TokenAccepted', 'False'), condition('Error', 'False'), halted],
    });
    expect(events).toMatchObject([
      { reason: 'LumigoTokenRefused', message: 'of this' },
      { reason: 'LumigoRolloutHalted' },
    ]);
    expect(
      turnedFalse(lumigo(condition('TokenAccepted', 'True')), { conditions: [condition('TokenAccepted', 'False')] }),
    ).toMatchObject([{ reason: 'LumigoTokenRefused', regarding: { kind: 'Lumigo', uid: 'l' } }]);
  });

  it('is no event if it was false before, or is true', () => {
    const before = lumigo(condition('TokenAccepted', 'False'));
    expect(turnedFalse(before, { conditions: [condition('TokenAccepted', 'False')] })).toEqual([]);
    expect(turnedFalse(before, { conditions: [condition('TokenAccepted', 'True')] })).toEqual([]);
  });
});

const cart = observeWorkload(workloadKinds.deployment, { namespace: 'shop', name: 'cart', uid: 'u' });

it.each([
  ['added', 'LumigoCannotAddInstrumentation'],
  ['updated', 'LumigoCannotUpdateInstrumentation'],
  ['removed', 'LumigoCannotRemoveInstrumentation'],
] as const)('reports that the API server refuses what would have %s the injection as %s [F78]', (change, reason) => {
  const failure = { kind: 'failed', change, problem: 'denied', isRefused: true } as const;
  expect(refused(cart, { kind: 'none' }, failure).reason).toBe(reason);
});

it('says of a workload that another writer changes back what to do, within the length of an event', () => {
  const { message } = contested(cart, 'none', 4, 24 * 3_600_000);
  expect(message).toMatch(/waits 24 hours\. Do one of these: .*pass through the webhook.*mode: Pod.*"false"`\.$/);
  expect(message.length).toBeLessThan(1_024);
});

it.each([
  ['says what to do about other webhooks if the guard refuses a write', `${guardAnswer} add this`, true],
  ['says nothing about them if another policy refuses it', 'denied: no images of other registries', false],
])('%s', (_title, problem, expected) => {
  const failure = { kind: 'failed', change: 'added', problem, isRefused: true } as const;
  const { message } = refused(cart, { kind: 'none' }, failure);
  expect(message.includes('or set guard: Audit')).toBe(expected);
});

import { describe, expect, it } from '@jest/globals';
import { workloads } from '../contract.ts';
import type { ObservedWorkload } from './observed.ts';
import { rolloutCondition } from './conditions-rollout.ts';
import { noRollout, type RolloutSummary } from './plan-rollout.ts';

const named = (name: string, rollout?: object) =>
  ({ kind: workloads[0], namespace: 'shop', name, rollout }) as unknown as ObservedWorkload;
const note = { at: '2026-11-22T12:00:00Z', cause: 'Crash', evidence: "container 'app': boom" };
const reverted = [named('a', { state: 'reverted', note })] as unknown as RolloutSummary['reverted'];
const shape = { blocked: { reason: 'Paused', message: 'is paused' } };
const blocked = [named('b', { state: 'queued', shape })] as unknown as RolloutSummary['blocked'];

describe('the condition RolledOut', () => {
  it.each<[string, Partial<RolloutSummary>, string]>([
    ['Halted', { halted: 'two were reverted', queued: 3, reverted }, 'The rollout is halted: two were reverted'],
    [
      'Progressing',
      { underWay: [named('c')], queued: 3, reverted },
      'In progress: Deployment/c. 3 workloads are queued',
    ],
    [
      'Reverted',
      { reverted, blocked },
      "Deployment/a was reverted at 2026-11-22T12:00:00Z (Crash): container 'app': boom",
    ],
    ['Reverted', { reverted }, 'kubectl -n shop annotate --overwrite deployments.apps a lumigo.retry="$(date)"'],
    ['Blocked', { blocked, left: 1 }, 'The operator waits because Deployment/b is paused'],
    ['LeftForNow', { left: 2 }, '2 workloads are not changed until their pod template changes'],
  ])('is False for the reason %s', (reason, summary, said) => {
    const condition = rolloutCondition({ ...noRollout, ...summary }, false);
    expect(condition).toMatchObject({ status: 'False', reason });
    expect(condition?.message).toContain(said);
  });

  it('is there once there was something to say, and fits whatever stands in annotations', () => {
    expect(rolloutCondition(noRollout, false)).toBeUndefined();
    expect(rolloutCondition(noRollout, true)).toMatchObject({ status: 'True', reason: 'Complete' });
    const long = { state: 'reverted', note: { ...note, evidence: 'x'.repeat(1_000) } };
    const many = Array.from({ length: 500 }, (_, index) => named(`w${index}`, long));
    const message = rolloutCondition(
      { ...noRollout, reverted: many as never, underWay: many, blocked: [] },
      false,
    )?.message;
    expect(message?.length).toBeLessThan(32_768);
    expect(message).toContain('and 490 more');
  });
});

import { describe, expect, it } from '@jest/globals';
import { getKstatus } from '../../sandbox/testing/kstatus.ts';
import type { Condition, Problem } from '../api/lumigo.ts';
import { getReadyConditions, getWaitMs } from './conditions-ready.ts';

const generation = 2;
const now = '2026-11-20T10:00:30Z';
const untimed = (type: string, status: Condition['status'], reason = 'Any', observedGeneration?: number) => ({
  type,
  status,
  reason,
  message: `about ${type}`,
  ...(observedGeneration === undefined ? {} : { observedGeneration }),
});
const timed = (condition: ReturnType<typeof untimed>, lastTransitionTime = now): Condition => ({
  observedGeneration: generation,
  ...condition,
  lastTransitionTime,
});
const problem = (reason: Problem['reason']): Problem => ({ reason, message: `about ${reason}` });

const accepted = untimed('TokenAccepted', 'True');
const reached = untimed('WebhookReachable', 'True');
const wasReady = timed(untimed('Ready', 'True', 'Ready'));
const wasReadyBefore = timed(untimed('Ready', 'True', 'Ready', 1));
const reconciling = (since: string) => timed(untimed('Reconciling', 'True', 'Checking'), since);

interface Case {
  readonly conditions?: readonly ReturnType<typeof untimed>[];
  readonly problem?: Problem;
  readonly isDeleted?: boolean;
  readonly known?: readonly Condition[];
}

function judge({ conditions = [accepted, reached], known = [], isDeleted = false, problem }: Case) {
  const seen = { ...(isDeleted ? { deletionTimestamp: now } : {}), generation };
  const all = getReadyConditions(
    { metadata: seen, problem, now, needed: ['TokenAccepted', 'WebhookReachable'] },
    conditions,
    new Map(known.map((each) => [each.type, each])),
  ).map((each) => ({ observedGeneration: generation, ...each, lastTransitionTime: now }));
  const metadata = { name: 'lumigo', namespace: 'shop', uid: 'u', generation };
  return { all, kstatus: getKstatus({ metadata, status: { observedGeneration: generation, conditions: all } }) };
}

const refused = untimed('TokenAccepted', 'False', 'TokenRefused');
const unreached = untimed('WebhookReachable', 'False', 'ProbeFailed');

const late = { conditions: [reached] };
const at = (second: string) => reconciling(`2026-11-20T10:00:${second}Z`);

describe('the condition Ready', () => {
  it.each<[string, Case, string]>([
    ['everything works', {}, 'True Ready, so Current'],
    ['the Secret is missing', { problem: problem('SecretNotFound') }, 'False SecretNotFound, so InProgress'],
    ['the token is malformed', { problem: problem('TokenMalformed') }, 'False TokenMalformed, Stalled, so Failed'],
    ['the Secret is too large', { problem: problem('SecretTooLarge') }, 'False SecretTooLarge, Stalled, so Failed'],
    [
      'its namespace is excluded',
      { problem: problem('NamespaceExcluded') },
      'False NamespaceExcluded, Stalled, so Failed',
    ],
    ['it wants an absent mode', { problem: problem('PodModeOff') }, 'False PodModeOff, Stalled, so Failed'],
    [
      'it names no Secret',
      { problem: problem('SecretReferenceMissing') },
      'False SecretReferenceMissing, Stalled, so Failed',
    ],
    ['another one is older', { problem: problem('DuplicateLumigo') }, 'False DuplicateLumigo, Stalled, so Failed'],
    ['the token is refused', { conditions: [refused, reached] }, 'False TokenRefused, Stalled, so Failed'],
    ['the webhook is not reached', { conditions: [accepted, unreached] }, 'False ProbeFailed, so InProgress'],
    ['nothing is checked yet', { conditions: [] }, 'Unknown Checking, Reconciling, so InProgress'],
    ['a result is missing', { conditions: [reached] }, 'Unknown Checking, Reconciling, so InProgress'],
    [
      'a result is of an earlier spec, which was refused',
      { conditions: [{ ...refused, observedGeneration: 1 }, reached] },
      'Unknown Checking, Reconciling, so InProgress',
    ],
    ['a new spec is checked', { ...late, known: [wasReadyBefore] }, 'True Ready, Reconciling, so InProgress'],
    ['a check was lost later', { ...late, known: [wasReady] }, 'True Ready, so Current'],
    ['no result comes for 29 s', { ...late, known: [at('01')] }, 'Unknown Checking, Reconciling, so InProgress'],
    ['no result comes for 30 s', { ...late, known: [at('00')] }, 'True Ready, so Current'],
  ])('if %s', (_case, given, expected) => {
    const { all, kstatus } = judge(given);
    const [first, ...others] = all;
    const seen = [`${first?.status} ${first?.reason}`, ...others.map(({ type }) => type)].join(', ');
    expect(`${seen}, so ${kstatus}`).toBe(expected);
  });

  it('is False for a resource that is being deleted, whatever else holds', () => {
    const { all } = judge({ isDeleted: true, problem: problem('DuplicateLumigo') });
    expect(all).toEqual([expect.objectContaining({ type: 'Ready', status: 'False', reason: 'Deleting' })]);
  });

  it('keeps the earlier generation while a new spec is checked, so `kubectl wait` waits', () => {
    const { all } = judge({ ...late, known: [wasReadyBefore] });
    expect(all.map(({ observedGeneration }) => observedGeneration)).toEqual([1, 2]);
  });

  it('names the results that it does not have', () => {
    const { all } = judge({ conditions: [] });
    expect(all[1]?.message).toBe("Waiting for Lumigo's answer about the token and a probe of the webhook");
    const lost = judge({ ...late, known: [wasReady] });
    expect(lost.all[0]?.message).toContain("There is no result yet of Lumigo's answer about the token");
  });

  it('waits for results until a known time', () => {
    expect(getWaitMs([reconciling('2026-11-20T10:00:10Z')], now)).toBe(10_000);
    expect(getWaitMs([reconciling('2026-11-20T09:00:00Z')], now)).toBe(0);
    expect(getWaitMs([wasReady], now)).toBe(Infinity);
  });
});

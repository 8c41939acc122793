import { describe, expect, it } from '@jest/globals';
import type { LumigoResource } from '../api/lumigo.ts';
import { workloadKinds } from '../contract.ts';
import { reviewLumigo } from './lumigoes.ts';
import { afterProbe, isOwnRefusal, nextCandidate, noProbe, unreachable, type Candidate } from './probe.ts';
import { tooLargeNote } from './review.ts';

it.each([
  [5_010, 5, 'ProbeTimedOut'],
  [200, 5, 'ProbeFailed'],
  [1_010, 1, 'ProbeTimedOut'],
  [5_010, 30, 'ProbeFailed'],
  [30_010, 30, 'ProbeTimedOut'],
])('an answer without the echo after %d ms with a timeout of %d s means %s [F12]', (tookMs, timeoutSeconds, reason) => {
  expect(unreachable(tookMs, timeoutSeconds)).toMatchObject({ reason });
});

it('an unreachable webhook is reported without a number for its port, which is a setting', () => {
  for (const tookMs of [5_010, 200]) expect(unreachable(tookMs, 5).message).not.toMatch(/port \d/);
});

it.each([
  ['the webhook', true, 'Internal error occurred: failed calling webhook "injector.operator.lumigo.io": no endpoints'],
  ['the webhook for Lumigo resources', true, 'admission webhook "lumigoes.operator.lumigo.io" denied the request: no'],
  [
    'a policy for Lumigo resources',
    false,
    "lumigoes.operator.lumigo.io \"lumigo\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
  ],
  [
    'a workload that has the name of the webhook',
    false,
    'Deployment.apps "injector.operator.lumigo.io" is invalid: spec.template.annotations: Too long',
  ],
])('a refusal of the dry run by %s is one of the operator: %s', (_by, expected, message) => {
  expect(isOwnRefusal(message)).toBe(expected);
});

it('the probe recognizes the answer for a Lumigo that is too large to be reviewed', () => {
  const lumigoes = { in: () => [], isExcluded: () => false };
  const { warnings } = reviewLumigo({ uid: 'u', namespace: 'shop', operation: 'UPDATE', unread: '2 MB' }, lumigoes);
  expect(warnings).toEqual([expect.stringMatching(new RegExp(`^${tooLargeNote}`))]);
});

it('the probe uses each namespace in turn, so the objects of one alone do not decide', () => {
  const candidate = (namespace: string, name = 'app'): Candidate => ({
    lumigo: { metadata: { namespace, name: 'lumigo', uid: namespace } } as LumigoResource,
    workload: { ...workloadKinds.deployment, kind: workloadKinds.deployment, namespace, name },
  });
  const all = [candidate('a'), candidate('b'), candidate('c')];
  const [a, b, c] = all;
  expect([undefined, a, b, c].map((last) => nextCandidate(all, last))).toEqual([a, b, c, a]);
  expect(nextCandidate(all, candidate('deleted'))).toBe(a);
  expect(nextCandidate(all, candidate('a', 'another'))).toBe(b);
  expect(nextCandidate([candidate('a')], a)).toEqual(a);
  expect(nextCandidate([], a)).toBeUndefined();
  expect(nextCandidate(all, b, true)).toBe(b);
  expect(nextCandidate(all, candidate('deleted'), true)).toBe(a);
});

/** `lumigo`: another policy refuses the workload, so the probe uses a Lumigo. */
const answers = {
  yes: { reachable: true, reason: 'ProbeSucceeded', message: '' },
  no: { reachable: false, reason: 'ProbeFailed', message: '' },
  lumigo: { reachable: true, reason: 'ProbeSucceeded', message: '', isIndirect: true },
  noLumigo: { reachable: false, reason: 'ProbeFailed', message: '', isIndirect: true },
  none: undefined,
} as const;

describe('the result of a probe', () => {
  it.each<[string, readonly (keyof typeof answers)[], readonly string[]]>([
    ['is reported each minute', ['yes', 'yes'], ['true 60', 'true 60']],
    [
      'is reported from the second failure on, which comes soon',
      ['no', 'no', 'no'],
      ['5 again', 'false 60', 'false 60'],
    ],
    ['is not known without an answer', ['none', 'yes', 'none'], ['5', 'true 60', '5']],
    ['is that for a Lumigo, if no workload can be tried', ['lumigo', 'lumigo'], ['true 60', 'true 60']],
    [
      'is no proof against the failure of a workload',
      ['no', 'lumigo', 'no', 'lumigo'],
      ['5 again', '60', 'false 60', '60'],
    ],
    ['is no proof beside that of a workload', ['yes', 'lumigo', 'yes'], ['true 60', '60', 'true 60']],
    ['recovers as it failed', ['yes', 'noLumigo', 'noLumigo', 'lumigo'], ['true 60', '5 again', 'false 60', 'true 60']],
    ['counts failures in a row only', ['no', 'yes', 'no'], ['5 again', 'true 60', '5 again']],
  ])('%s', (_title, seen, expected) => {
    let state = noProbe;
    const steps = seen.map((each) => {
      state = afterProbe(state, answers[each]);
      const { report, waitMs, isAgain } = state;
      return [report?.reachable, waitMs / 1_000, isAgain === true ? 'again' : undefined].filter(
        (said) => said !== undefined,
      );
    });
    expect(steps.map((step) => step.join(' '))).toEqual(expected);
  });
});

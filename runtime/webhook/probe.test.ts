import { expect, it } from '@jest/globals';
import type { LumigoResource } from '../api/lumigo.ts';
import { workloadKinds } from '../contract.ts';
import { reviewLumigo } from './lumigoes.ts';
import { isOwnRefusal, nextCandidate, unreachable, type Candidate } from './probe.ts';
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
  const lumigoes = { in: () => [], count: () => 0, isExcluded: () => false };
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
});

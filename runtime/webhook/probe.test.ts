import { describe, expect, it } from '@jest/globals';
import { isOwnRefusal, unreachable } from './probe.ts';

describe('an answer of the API server without the echo of the webhook', () => {
  it.each([
    [5_010, 5, 'ProbeTimedOut'],
    [200, 5, 'ProbeFailed'],
    [1_010, 1, 'ProbeTimedOut'],
    [5_010, 30, 'ProbeFailed'],
    [30_010, 30, 'ProbeTimedOut'],
  ])('after %d ms with a timeout of %d s means %s [F12]', (tookMs, timeoutSeconds, reason) => {
    expect(unreachable(tookMs, timeoutSeconds)).toMatchObject({ reason });
  });
});

describe('a refusal of the dry run', () => {
  it.each([
    [
      'the webhook',
      true,
      'Internal error occurred: failed calling webhook "injector.operator.lumigo.io": no endpoints',
    ],
    [
      'the webhook for Lumigo resources',
      true,
      'admission webhook "lumigoes.operator.lumigo.io" denied the request: no',
    ],
    [
      'a policy for Lumigo resources',
      false,
      "lumigoes.operator.lumigo.io \"lumigo\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    ],
  ])('by %s is one of the operator: %s', (_by, expected, message) => {
    expect(isOwnRefusal(message)).toBe(expected);
  });
});

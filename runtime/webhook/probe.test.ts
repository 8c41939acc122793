import { describe, expect, it } from '@jest/globals';
import { unreachable } from './probe.ts';

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

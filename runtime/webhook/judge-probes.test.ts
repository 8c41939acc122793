import { describe, expect, it } from '@jest/globals';
import { judgeProbe } from './judge-probes.ts';

describe('the answer to a probe of the webhook', () => {
  it('says that the webhook is reached', () => {
    expect(judgeProbe({ reached: 'injector' })).toEqual({
      ...{ reachable: true, reason: 'ProbeSucceeded' },
      message: 'The API server reaches the injector webhook',
    });
  });

  it('says so if only the rule for Lumigo resources could be checked', () => {
    expect(judgeProbe({ reached: 'lumigoes' })?.message).toContain('there is no workload to check with');
  });

  it('says why the webhook is not reached', () => {
    const unreached = { reason: 'ProbeFailed', message: 'The API server did not call' };
    expect(judgeProbe({ unreached })).toEqual({ reachable: false, ...unreached });
  });

  it('says nothing if the API server did not get as far as the webhook', () => {
    expect(judgeProbe({ unknown: 'cannot be reached', unanswered: true })).toBeUndefined();
    expect(judgeProbe({ unknown: 'refused by a policy', unanswered: false })).toBeUndefined();
  });
});

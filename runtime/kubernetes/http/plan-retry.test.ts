import { describe, expect, it } from '@jest/globals';
import { planRetry } from './plan-retry.ts';

const first = { attempts: 1, repeatable: false, random: 0 };

describe('planRetry', () => {
  it('waits as long as the server asks, and a little more so that clients do not return in step', () => {
    expect(planRetry({ status: 429, retryAfterSeconds: 2 }, first)).toBe(2000);
    expect(planRetry({ status: 429, retryAfterSeconds: 2 }, { ...first, random: 0.5 })).toBe(2500);
    expect(planRetry({ status: 503, retryAfterSeconds: 1 }, first)).toBe(1000);
  });

  it('never comes back at once to a server that is too busy', () =>
    expect(planRetry({ status: 429, retryAfterSeconds: 0 }, first)).toBe(100));

  it.each([
    ['another error', { status: 500 }, first],
    ['503 without Retry-After: it may have been done', { status: 503 }, first],
    ['a wait that is too long to sit out', { status: 429, retryAfterSeconds: 60 }, first],
    ['the fifth attempt', { status: 429 }, { ...first, attempts: 5 }],
    ['a stale socket under a write that must not be sent twice', { staleSocket: true }, first],
    ['a second stale socket', { staleSocket: true }, { attempts: 2, repeatable: true, random: 0 }],
  ])('gives up on %s', (_case, failed, context) => expect(planRetry(failed, context)).toBeUndefined());

  it('repeats at once over a new connection what may be repeated', () =>
    expect(planRetry({ staleSocket: true }, { ...first, repeatable: true })).toBe(0));
});

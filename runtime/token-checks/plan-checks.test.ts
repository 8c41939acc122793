import { describe, expect, it } from '@jest/globals';
import { askAt, firstDue, heard, type Asked } from './plan-checks.ts';

const after = (...statuses: number[]): Asked | undefined =>
  statuses.reduce<Asked | undefined>((before, status) => heard(status, 0, before), undefined);

describe('the verdict about a token [F29]', () => {
  it.each([
    ['one that it takes', [200], 'accepted'],
    ['one that it refuses twice', [401, 403], 'refused'],
    ['one that it refuses once', [401], undefined],
    ['one that it takes again', [401, 401, 202], 'accepted'],
    ['no answer', [0], undefined],
    ['no answer, or one about something else, after a refusal', [401, 401, 0, 503, 404, 429], 'refused'],
    ['the same after it took it', [200, 0, 500], 'accepted'],
    ['one refusal among others', [200, 401, 200, 401], 'accepted'],
    ['a refusal, nothing, and a refusal', [200, 401, 0, 401], 'refused'],
  ])('%s', (_case, statuses, verdict) => {
    expect(after(...statuses)?.verdict).toBe(verdict);
  });

  it('keeps the status of the last refusal', () => {
    expect(after(401, 403, 500)?.status).toBe(403);
  });
});

describe('the next request about a token is due [F29]', () => {
  it.each([
    ['at once, where it never was', undefined, -Infinity],
    ['every five minutes while it is taken', after(200), 300_000],
    ['soon after a first refusal', after(200, 401), 5_000],
    ['every minute while it is refused', after(401, 401), 60_000],
    ['every minute while there is no answer', after(0), 60_000],
  ])('%s', (_case, asked, expected) => {
    expect(askAt(asked)).toBe(expected);
  });
});

describe('the next check', () => {
  it('is the first that is due, and one that was never done before all others', () => {
    expect(firstDue([3, 1, 2], (item) => item, 2)).toBe(1);
    expect(firstDue([3, -Infinity, 1], (item) => item, 2)).toBe(-Infinity);
    expect(firstDue([3, Infinity], (item) => item, 2)).toBeUndefined();
  });
});

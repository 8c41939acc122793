import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dueAfter } from './schedule.ts';

/** Due is the end of the day after the next one on which it runs. 2026-11-24 is a Tuesday. */
const due = (schedule: string, ranAt: string): string => {
  const seconds = dueAfter(schedule, Date.parse(ranAt) / 1_000);
  return seconds === 0 ? 'never' : new Date((seconds - 2 * 86_400) * 1_000).toISOString().slice(0, 10);
};

describe('when a schedule is next due', () => {
  it.each([
    ['17 3 * * *', '2026-11-24T03:17:09Z', '2026-11-25'],
    ['*/5 * * * ?', '2026-11-24T23:59:00Z', '2026-11-25'],
    ['@hourly', '2026-11-24T03:00:00Z', '2026-11-25'],
    ['@daily', '2026-12-31T00:00:00Z', '2027-01-01'],
    ['@weekly', '2026-11-22T00:00:00Z', '2026-11-29'],
    ['@monthly', '2026-11-01T00:00:00Z', '2026-12-01'],
    ['@yearly', '2026-01-01T00:00:00Z', '2027-01-01'],
    ['17 3 * * 1', '2026-11-23T03:17:00Z', '2026-11-30'],
    ['17 3 * * MON-fri', '2026-11-27T03:17:00Z', '2026-11-30'],
    ['17 3 * * Tue,6', '2026-11-24T03:17:00Z', '2026-11-28'],
    ['17 3 */10 * *', '2026-11-21T03:17:00Z', '2026-12-01'],
    ['17 3 5/10 * *', '2026-11-15T03:17:00Z', '2026-11-25'],
    ['17 3 1 Mar,sep *', '2026-11-24T03:17:00Z', '2027-03-01'],
    ['17 3 29 2 *', '2096-02-29T03:17:00Z', '2104-02-29'],
    ['17 3 13 * 5', '2026-11-24T03:17:00Z', '2026-11-27'],
    ['17 3 13 * */1', '2026-11-24T03:17:00Z', '2026-12-13'],
  ])('%s after %s: on %s', (schedule, ranAt, expected) => expect(due(schedule, ranAt)).toBe(expected));

  it.each(['0 0 31 2 *', '0 0 * * someday', '0 0', ''])('%p never is', (schedule) =>
    expect(due(schedule, '2026-11-24T03:17:00Z')).toBe('never'),
  );

  it('is two to three days after a run of every day', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4e9 }), (ranAt) => {
        const after = dueAfter('@daily', ranAt) - ranAt;
        expect(after).toBeGreaterThan(2 * 86_400);
        expect(after).toBeLessThanOrEqual(3 * 86_400);
      }),
    );
  });
});

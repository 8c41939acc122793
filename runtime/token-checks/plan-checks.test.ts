import { describe, expect, it } from '@jest/globals';
import { APART_MS, askAt, heard, keepPresent, newAt, nextToken, tokenSeen, type Asked } from './plan-checks.ts';

const after = (...statuses: number[]): Asked => statuses.reduce((before, status) => heard(status, 0, before), newAt(0));

describe('the verdict about a token [F29]', () => {
  it.each([
    ['one that it takes', [200], 'accepted'],
    ['one that it refuses twice', [401, 403], 'refused'],
    ['one that it refuses once', [401], undefined],
    ['one that it takes again', [401, 401, 202], 'accepted'],
    ['no answer', [0], undefined],
    ['a redirect', [300], undefined],
    ['no answer, or one about something else, after a refusal', [401, 401, 0, 503, 404, 429], 'refused'],
    ['the same after it took it', [200, 0, 500], 'accepted'],
    ['one refusal among others', [200, 401, 200, 401], 'accepted'],
    ['a refusal, nothing, and a refusal', [200, 401, 0, 401], 'refused'],
  ])('%s', (_case, statuses, verdict) => {
    expect(after(...statuses).verdict).toBe(verdict);
  });

  const message = expect.stringMatching(/'shop\/lumigo-credentials' \(HTTP 403\)/);
  it.each([
    ['nothing before an answer', undefined, {}],
    ['nothing without a verdict', after(401), {}],
    ['that the token works', after(200), { accepted: 'working' }],
    [
      'which Secret to change, and the last refusal',
      after(401, 403, 500),
      { accepted: { reason: 'TokenRefused', message } },
    ],
  ])('says %s', (_what, asked, expected) => {
    expect(tokenSeen({ namespace: 'shop', name: 'lumigo-credentials', key: 'token' }, asked)).toEqual(expected);
  });
});

describe('the next request about a token is due [F29]', () => {
  it.each([
    ['at once, where it never was', after(), 0],
    ['every five minutes while it is taken', after(200), 300_000],
    ['soon after a first refusal', after(200, 401), 5_000],
    ['every minute while it is refused', after(401, 401), 60_000],
    ['every minute while there is no answer', after(0), 60_000],
  ])('%s', (_case, asked, expected) => {
    expect(askAt(asked)).toBe(expected);
  });
});

/** Asks for an hour about known tokens, and about those that `added` has by then. Returns the times by token. */
function askForAnHour(known: readonly string[], added: (tick: number) => readonly string[]) {
  let asked = new Map(known.map((token) => [token, after(200)]));
  const times = new Map<string, number[]>();
  let wasNew = false;
  for (let tick = 0; tick < 1_200; tick += 1) {
    const now = tick * APART_MS;
    asked = keepPresent(
      [...known, ...added(tick)].map((token) => ({ token })),
      asked,
      now,
    );
    const next: [string, Asked] | undefined = nextToken(asked, now, wasNew);
    if (next === undefined) continue;
    const [token, before] = next;
    wasNew = before.isNew === true;
    asked.set(token, heard(200, now, before));
    times.set(token, [...(times.get(token) ?? []), now]);
  }
  return times;
}
const named = (count: number): string[] => Array.from({ length: count }, (_, index) => `known-${index}`);

describe('the next token', () => {
  it('is one of 20 a minute at most', () => expect(60_000 / APART_MS).toBe(20));

  it('is soon one that is due, also if other tenants change their tokens all the time', () => {
    const changing = (tick: number) => ['a', 'b', 'c'].map((tenant) => `${tenant}-${tick}`);
    const times = askForAnHour(named(40), (tick) => [...changing(tick), ...(tick < 600 ? [] : ['newcomer'])]);
    const waits = named(40).flatMap((token) => {
      const at = [0, ...(times.get(token) ?? []), 3_600_000];
      return at.slice(1).map((time, index) => time - (at[index] ?? 0));
    });
    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000 + 2 * 40 * APART_MS);
    expect(times.get('newcomer')?.[0]).toBeLessThanOrEqual((600 + 2 * 4) * APART_MS);
  });

  it('is soon a new one, also if more known ones are due than requests are possible', () => {
    const times = askForAnHour(named(1_000), (tick) => (tick < 600 ? [] : ['newcomer']));
    expect(times.get('newcomer')?.[0]).toBeLessThanOrEqual(601 * APART_MS);
  });

  it('is none before one is due', () => {
    expect(nextToken(new Map([['known', after(200)]]), 299_999, false)).toBeUndefined();
    expect(nextToken(new Map([['known', after(200)]]), 300_000, false)?.[0]).toBe('known');
  });
});

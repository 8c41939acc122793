import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { pino } from 'pino';
import { ScrapeAccess, type Verdict } from './scrape-access.ts';

const forbidden: Verdict = { status: 403, message: 'no' };

function accessTo(answer: (token: string) => Promise<Verdict>) {
  const asked: string[] = [];
  const log: string[] = [];
  const ask = (token: string): Promise<Verdict> => {
    asked.push(token);
    return answer(token);
  };
  const logger = pino({}, { write: (line: string) => log.push(line) });
  const access = new ScrapeAccess({ ask, logger });
  /** The clock of the machine is set back meanwhile. */
  const pass = (ms: number): void => {
    jest.setSystemTime(0);
    jest.advanceTimersByTime(ms);
  };
  const judge = (token: string, client = token) => access.judge(`Bearer ${token}`, client);
  return { asked, log, pass, judge, access };
}

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const getStatus = (verdict: Verdict) => verdict?.status ?? 200;

describe('access to metrics', () => {
  it.each([undefined, '', 'Bearer', 'Bearer ', 'Basic YWJj', 'abc', 'Bearer a b'])(
    'is refused for the header %j, and the API server is not asked',
    async (header) => {
      const { access, asked } = accessTo(() => Promise.resolve(undefined));
      expect(await access.judge(header, '10.0.0.1')).toMatchObject({
        status: 401,
        message: expect.stringContaining('send the token of a ServiceAccount'),
      });
      expect(asked).toEqual([]);
    },
  );

  it('is checked once a minute for an accepted token, and each time for a refused one', async () => {
    const { asked, judge, pass } = accessTo((token) => Promise.resolve(token === 'good' ? undefined : forbidden));
    for (let second = 0; second < 60; second += 5) {
      expect([getStatus(await judge('good')), getStatus(await judge('bad'))]).toEqual([200, 403]);
      pass(5_000);
    }
    expect(asked.filter((token) => token === 'good')).toHaveLength(1);
    expect(asked.filter((token) => token === 'bad')).toHaveLength(12);
    await judge('good');
    expect(asked.filter((token) => token === 'good')).toHaveLength(2);
  });

  it("changes with the API server's answer, in both directions, also if the clock is set back", async () => {
    let verdict: Verdict = undefined;
    const { judge, pass } = accessTo(() => Promise.resolve(verdict));
    expect(getStatus(await judge('a'))).toBe(200);
    verdict = forbidden;
    pass(60_000);
    expect(getStatus(await judge('a'))).toBe(403);
    verdict = undefined;
    expect(getStatus(await judge('a'))).toBe(200);
  });

  it('is checked once for concurrent requests with the same token', async () => {
    const { asked, judge } = accessTo(() => Promise.resolve(undefined));
    expect(await Promise.all(Array.from({ length: 50 }, () => judge('a')))).toEqual(Array(50).fill(undefined));
    expect(asked).toEqual(['a']);
  });

  it('is refused while the API server is down, which is not cached and is logged once', async () => {
    let isAway = true;
    const { judge, log, pass } = accessTo(() =>
      isAway ? Promise.reject(new Error('nothing listens there')) : Promise.resolve(undefined),
    );
    expect([getStatus(await judge('a')), getStatus(await judge('a'))]).toEqual([503, 503]);
    expect(log).toEqual([expect.stringContaining('nothing listens there')]);
    isAway = false;
    pass(1_000);
    expect(getStatus(await judge('a'))).toBe(200);
    isAway = true;
    pass(60_000);
    expect(getStatus(await judge('a'))).toBe(503);
    expect(log.join('')).not.toContain('Bearer');
  });
});

describe('the cache of tokens', () => {
  it('has no refused tokens, which could displace accepted ones', async () => {
    const { asked, judge, pass } = accessTo((token) => Promise.resolve(token === 'good' ? undefined : forbidden));
    await judge('good');
    for (let number = 0; number < 400; number += 1) {
      pass(100);
      expect(getStatus(await judge(`bad-${number}`))).toBe(403);
    }
    asked.length = 0;
    await judge('good');
    expect(asked).toEqual([]);
  });

  it('keeps the last 256 tokens, however fast they arrive', async () => {
    const { asked, judge, pass } = accessTo(() => Promise.resolve(undefined));
    for (let number = 0; number < 300; number += 1) {
      pass(70);
      await judge(`good-${number}`);
    }
    asked.length = 0;
    for (const number of [299, 200, 44]) await judge(`good-${number}`);
    expect(asked).toEqual([]);
    for (const number of [43, 0]) {
      pass(70);
      await judge(`good-${number}`);
    }
    expect(asked).toEqual(['good-43', 'good-0']);
  });
});

describe('unknown tokens', () => {
  it('are checked four at once, and tokens that were accepted before do not wait for them', async () => {
    const waiting: (() => void)[] = [];
    let isHeld = false;
    const { asked, judge, pass } = accessTo(() =>
      isHeld ? new Promise((resolve) => waiting.push(() => resolve(undefined))) : Promise.resolve(undefined),
    );
    await judge('good');
    pass(60_000);
    isHeld = true;
    const strangers = Array.from({ length: 100 }, (_, number) => judge(`stranger-${number}`));
    const known = judge('good');
    expect(asked).toHaveLength(1 + 4 + 1);
    waiting.forEach((answer) => answer());
    expect(getStatus(await known)).toBe(200);
    const statuses = (await Promise.all(strangers)).map(getStatus);
    expect(statuses).toEqual([200, 200, 200, 200, ...Array<number>(96).fill(503)]);
  });

  it('are checked for one client one at a time and twice a second, so the others have places', async () => {
    let answers: (() => void)[] = [];
    const { judge, pass } = accessTo(() => new Promise((resolve) => answers.push(() => resolve(undefined))));
    const statuses: number[] = [];
    for (let round = 0; round < 4; round += 1) {
      const flood = Array.from({ length: 50 }, (_, index) => judge(`token-${round}-${index}`, 'attacker'));
      const sentNow = [...flood, judge(`renewed-${round}`, 'scraper')];
      answers.forEach((answer) => answer());
      answers = [];
      statuses.push(...(await Promise.all(sentNow)).map(getStatus));
      pass(500);
    }
    const each = [200, ...Array<number>(49).fill(503), 200];
    expect(statuses).toEqual([...each, ...each, ...each, ...each]);
  });

  it('are checked sixteen times a second, for all senders together', async () => {
    const { judge, pass } = accessTo(() => Promise.resolve(forbidden));
    const statuses: number[] = [];
    for (let number = 0; number < 100; number += 1) statuses.push(getStatus(await judge(`stranger-${number}`)));
    expect(statuses).toEqual([...Array<number>(16).fill(403), ...Array<number>(84).fill(503)]);
    pass(1_000);
    expect(getStatus(await judge('another'))).toBe(403);
  });
});

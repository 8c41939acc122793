import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs, failureLog, pause, retrying } from './retrying.ts';

async function tried(problems: readonly string[], stop = new AbortController()) {
  const logged: string[] = [];
  const waits: number[] = [];
  const left = [...problems];
  const log = (level: string) => (fields: { problem: string }, text: string) =>
    void logged.push(`${level}: ${text}: ${fields.problem}`);
  const result = await retrying(
    async () => {
      const problem = left.shift();
      if (problem !== undefined) throw new Error(problem);
      return 'done';
    },
    {
      signal: stop.signal,
      failure: 'cannot do it, retrying',
      firstMs: 1_000,
      maxMs: 3_000,
      logger: { warn: log('warn'), debug: log('debug') } as never,
      wait: async (ms) => {
        waits.push(ms);
        if (waits.length === 4) stop.abort();
      },
    },
  );
  return { result, logged, waits };
}

describe('failureLog', () => {
  it('warns once of each subject until it succeeds, and has the other failures at debug level', () => {
    const logged: string[] = [];
    const log = (level: string) => (fields: object) => void logged.push(`${level} ${Object.values(fields).join(' ')}`);
    const report = failureLog({ warn: log('warn'), debug: log('debug') } as never, 'cannot count pods');
    const shop = { namespace: 'shop' };
    const bank = { namespace: 'bank' };
    report(shop, 'forbidden');
    report(bank, 'forbidden');
    report(shop, 'timeout');
    report(shop, undefined);
    report(shop, 'forbidden');
    expect(logged).toEqual(['warn shop forbidden', 'warn bank forbidden', 'debug shop timeout', 'warn shop forbidden']);
  });
});

describe('retrying', () => {
  it('returns the result of the first attempt that succeeds, without a wait', async () => {
    expect(await tried([])).toEqual({ result: 'done', logged: [], waits: [] });
  });

  it('doubles its waits up to the longest, less a random half at most', async () => {
    const { result, waits } = await tried(['a', 'a', 'a']);
    expect(result).toBe('done');
    for (const [index, full] of [1_000, 2_000, 3_000].entries()) {
      expect(waits[index]).toBeGreaterThanOrEqual(full / 2);
      expect(waits[index]).toBeLessThanOrEqual(full);
    }
  });

  it('warns of each new problem, and logs its repetition at debug level', async () => {
    const { logged } = await tried(['a', 'a', 'b']);
    expect(logged).toEqual(
      ['warn', 'debug', 'warn'].map((level, index) => `${level}: cannot do it, retrying: ${'aab'[index]}`),
    );
  });

  it('returns undefined if the signal is aborted while it waits', async () => {
    expect(await tried(['a', 'a', 'a', 'a', 'a'])).toMatchObject({ result: undefined, waits: { length: 4 } });
  });

  it('makes no attempt, and logs nothing, if the signal is aborted before', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(await tried(['a'], stop)).toEqual({ result: undefined, logged: [], waits: [] });
  });

  it('does not report a failure of an attempt that the signal ended', async () => {
    const stop = new AbortController();
    const logged: string[] = [];
    const logger = { warn: () => logged.push('warn'), debug: () => logged.push('debug') } as never;
    const attempt = () => {
      stop.abort();
      return Promise.reject(new Error('aborted'));
    };
    expect(await retrying(attempt, { signal: stop.signal, logger, failure: '', firstMs: 1 })).toBeUndefined();
    expect(logged).toEqual([]);
  });
});

describe('a pause', () => {
  it('ends with the signal', async () => {
    const stop = new AbortController();
    const paused = pause(60_000, stop.signal);
    stop.abort();
    await expect(paused).resolves.toBeUndefined();
  });
});

describe('backoffMs', () => {
  it('doubles up to the limit', () =>
    expect([1, 2, 3, 6, 7, 8, 1000].map((failures) => backoffMs(failures, { random: 0 }))).toEqual([
      500, 1000, 2000, 16_000, 30_000, 30_000, 30_000,
    ]));

  it("stays between half and the whole of it, and never below the server's Retry-After", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        fc.nat(100_000),
        (failures, random, atLeast) => {
          const full = backoffMs(failures, { random: 0 });
          const ms = backoffMs(failures, { random });
          expect(ms).toBeGreaterThan(full / 2);
          expect(ms).toBeLessThanOrEqual(full);
          expect(backoffMs(failures, { random, atLeastMs: atLeast })).toBe(Math.max(ms, atLeast));
        },
      ),
    );
  });
});

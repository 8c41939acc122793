import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs, failureLog, pause, retrying } from './retrying.ts';

const recorder = () => {
  const logged: string[] = [];
  const log = (level: string) => (fields: object, text: string) => {
    const texts = Object.values(fields).filter((value) => typeof value === 'string');
    logged.push(`${level}: ${text}: ${texts.join(' ')}`);
  };
  return { logged, logger: { warn: log('warn'), debug: log('debug') } as never };
};

/** @param stopAt the number of the attempt that ends the signal. 0: before the first */
async function tried(problems: readonly string[], { stopAt = Infinity } = {}) {
  const { logged, logger } = recorder();
  const stop = new AbortController();
  const waits: number[] = [];
  let attempts = 0;
  if (stopAt === 0) stop.abort();
  const attempt = async () => {
    const problem = problems[attempts];
    attempts += 1;
    if (attempts === stopAt) stop.abort();
    if (problem !== undefined) throw new Error(problem);
    return 'done';
  };
  const wait = async (ms: number) => {
    waits.push(ms);
    if (waits.length === 4) stop.abort();
  };
  const failure = 'cannot do it, retrying';
  const options = { signal: stop.signal, failure, firstMs: 1_000, maxMs: 3_000, logger, wait };
  const result = await retrying(attempt, options);
  return { result, logged, waits, attempts };
}

describe('failureLog', () => {
  it('warns once of each subject until it succeeds, and has the other failures at debug level', () => {
    const { logged, logger } = recorder();
    const report = failureLog(logger, 'cannot count pods');
    const shop = { namespace: 'shop' };
    const bank = { namespace: 'bank' };
    report(shop, 'forbidden');
    report(bank, 'forbidden');
    report(shop, 'timeout');
    report(shop, undefined);
    report(shop, 'forbidden');
    expect(logged).toEqual([
      'warn: cannot count pods: shop forbidden',
      'warn: cannot count pods: bank forbidden',
      'debug: cannot count pods: shop timeout',
      'warn: cannot count pods: shop forbidden',
    ]);
  });
});

describe('retrying', () => {
  it('returns the result of the first attempt that succeeds, without a wait', async () => {
    expect(await tried([])).toEqual({ result: 'done', logged: [], waits: [], attempts: 1 });
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
    const failure = 'cannot do it, retrying';
    expect(logged).toEqual([`warn: ${failure}: a`, `debug: ${failure}: a`, `warn: ${failure}: b`]);
  });

  it('returns undefined if the signal is aborted while it waits', async () => {
    expect(await tried(['a', 'a', 'a', 'a', 'a'])).toMatchObject({ result: undefined, waits: { length: 4 } });
  });

  it.each([
    ['makes no attempt if the signal is aborted before', 0],
    ['does not report a failure of an attempt that the signal ended', 1],
  ])('%s', async (_title, stopAt) => {
    const { attempts, ...rest } = await tried(['a'], { stopAt });
    expect(attempts).toBe(stopAt);
    expect(rest).toEqual({ result: undefined, logged: [], waits: [] });
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

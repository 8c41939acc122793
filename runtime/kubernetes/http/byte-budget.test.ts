import { describe, expect, it } from '@jest/globals';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { bounds, ByteBudget, nextPageSize } from './byte-budget.ts';

describe('a byte budget', () => {
  it('never grants more than it has, and serves readers in the order of arrival [F66]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 10 }), { maxLength: 20 }), async (asked) => {
        const budget = new ByteBudget(10);
        const served: number[] = [];
        let taken = 0;
        await Promise.all(
          asked.map(async (bytes, index) => {
            const giveBack = await budget.take(bytes);
            taken += bytes;
            expect(taken).toBeLessThanOrEqual(10);
            served.push(index);
            await turn();
            taken -= bytes;
            giveBack();
          }),
        );
        expect(served).toEqual(asked.map((_, index) => index));
        expect(budget.takeNow(10)).toBeDefined();
      }),
    );
  });

  it('serves at once all readers for which it has room', async () => {
    const budget = new ByteBudget(10);
    const giveBack = await budget.take(10);
    const waiting = [budget.take(5), budget.take(5)];
    giveBack();
    await Promise.all(waiting);
  });

  it('grants nothing at once to a reader that would overtake another', async () => {
    const budget = new ByteBudget(10);
    const giveBack = await budget.take(6);
    const waiting = budget.take(6);
    expect(budget.takeNow(1)).toBeUndefined();
    giveBack();
    await waiting;
    expect(budget.takeNow(4)).toBeDefined();
  });
});

describe('the size of the next page', () => {
  it.each([
    [25, 2 * bounds.pageBytes, 12],
    [1, 2 * bounds.pageBytes, 1],
    [12, bounds.pageBytes / 2, 12],
    [12, 1_000, 24],
    [24, 1_000, 25],
  ])('after %d objects in %d bytes is %d', (size, bytes, expected) =>
    expect(nextPageSize(size, bytes, 25)).toBe(expected),
  );
});

import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { Places } from './places.ts';

afterEach(() => void jest.useRealTimers());

describe('places', () => {
  it('never run more than the limits in all and in each group, and admit all in the end', async () => {
    const groups = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 40 });
    const limits = fc.record({
      all: fc.integer({ min: 1, max: 5 }),
      perGroup: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(groups, limits, async (order, { all, perGroup }) => {
        const places = new Places({ all, perGroup });
        const inside: string[] = [];
        let done = 0;
        await Promise.all(
          order.map(async (group) => {
            const leave = await places.enter(group);
            inside.push(group);
            expect(inside.length).toBeLessThanOrEqual(all);
            expect(inside.filter((other) => other === group).length).toBeLessThanOrEqual(perGroup);
            await turn();
            inside.splice(inside.indexOf(group), 1);
            done += 1;
            leave(0);
          }),
        );
        expect(done).toBe(order.length);
      }),
      { numRuns: 50 },
    );
  });

  it('keep a place for the pause that its user gives on leaving, and no other', async () => {
    jest.useFakeTimers();
    const places = new Places({ all: 1, perGroup: 1 });
    (await places.enter('a'))(0);
    (await places.enter('a'))(60_000);
    let hasEntered = false;
    void places.enter('a').then(() => (hasEntered = true));
    await jest.advanceTimersByTimeAsync(59_999);
    expect(hasEntered).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(hasEntered).toBe(true);
  });
});

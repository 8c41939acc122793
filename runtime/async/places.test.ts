import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { Places } from './places.ts';

afterEach(() => void jest.useRealTimers());

describe('places', () => {
  it('are all used in order of arrival, and never more than the limits in all and in each group', async () => {
    const groups = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 40 });
    const limits = fc.record({
      all: fc.integer({ min: 1, max: 5 }),
      perGroup: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(groups, limits, async (order, { all, perGroup }) => {
        const places = new Places({ all, perGroup });
        const inside: string[] = [];
        const waiting = order.map((group, arrival) => ({ group, arrival }));
        const hasRoom = ({ group }: { group: string }) => inside.filter((each) => each === group).length < perGroup;
        await Promise.all(
          [...waiting].map(async (each) => {
            const leave = await places.enter(each.group);
            expect(inside.length).toBeLessThan(all);
            expect(waiting.find(hasRoom)).toBe(each);
            waiting.splice(waiting.indexOf(each), 1);
            inside.push(each.group);
            await turn();
            expect(inside.length === all || !waiting.some(hasRoom)).toBe(true);
            inside.splice(inside.indexOf(each.group), 1);
            leave(0);
          }),
        );
        expect(waiting).toEqual([]);
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

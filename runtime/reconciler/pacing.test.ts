import { afterEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { Pacing } from './pacing.ts';

afterEach(() => void jest.useRealTimers());

describe('pacing', () => {
  it('never has more at once than the settings say, in all and per namespace, and lets everybody through', async () => {
    const namespaces = fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 40 });
    const limits = fc.record({
      concurrent: fc.integer({ min: 1, max: 5 }),
      perNamespace: fc.integer({ min: 1, max: 3 }),
    });
    await fc.assert(
      fc.asyncProperty(namespaces, limits, async (order, { concurrent, perNamespace }) => {
        const pacing = new Pacing({
          rolloutConcurrent: concurrent,
          rolloutConcurrentPerNamespace: perNamespace,
          rolloutSettleSeconds: 0,
        });
        const inside: string[] = [];
        let done = 0;
        await Promise.all(
          order.map(async (namespace) => {
            const leave = await pacing.enter(namespace);
            inside.push(namespace);
            expect(inside.length).toBeLessThanOrEqual(concurrent);
            expect(inside.filter((other) => other === namespace).length).toBeLessThanOrEqual(perNamespace);
            await turn();
            inside.splice(inside.indexOf(namespace), 1);
            done += 1;
            leave(true);
          }),
        );
        expect(done).toBe(order.length);
      }),
      { numRuns: 50 },
    );
  });

  it('keeps the place of a changed workload until it has settled, and gives an unchanged one back at once', async () => {
    jest.useFakeTimers();
    const pacing = new Pacing({ rolloutConcurrent: 1, rolloutConcurrentPerNamespace: 1, rolloutSettleSeconds: 60 });
    (await pacing.enter('a'))(false);
    (await pacing.enter('a'))(true);
    let hasEntered = false;
    void pacing.enter('a').then(() => (hasEntered = true));
    await jest.advanceTimersByTimeAsync(59_999);
    expect(hasEntered).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(hasEntered).toBe(true);
  });
});

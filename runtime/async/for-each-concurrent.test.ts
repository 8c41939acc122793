import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { forEachConcurrent } from './for-each-concurrent.ts';

describe('a limited number at once', () => {
  it('acts on each item, and never on more than the number at a time', async () => {
    const seen: number[] = [];
    let running = 0;
    let most = 0;
    await forEachConcurrent(3, [1, 2, 3, 4, 5, 6, 7], async (item) => {
      running += 1;
      most = Math.max(most, running);
      await turn();
      seen.push(item);
      running -= 1;
    });
    expect(seen.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it('passes errors on', async () => {
    await expect(forEachConcurrent(2, [1, 2], () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });
});

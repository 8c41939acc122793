import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeyQueue } from './key-queue.ts';

function queueOf(work: (key: string) => Promise<{ requeueAfterMs?: number } | undefined>, workers = 2) {
  const stop = new AbortController();
  const errors: unknown[] = [];
  const queue = new KeyQueue({
    work,
    workers,
    signal: stop.signal,
    random: () => 0,
    onError: (_key, error) => errors.push(error),
  });
  return { queue, stop, errors };
}

describe('the key queue', () => {
  it('works on a key once however often it is added, and again when it was added meanwhile', async () => {
    const runs: string[] = [];
    const { queue, stop } = queueOf(async (key) => {
      runs.push(key);
      await sleep(20);
      return undefined;
    });
    queue.add('a');
    queue.add('a');
    await sleep(5);
    queue.add('a');
    queue.add('a');
    await sleep(80);
    stop.abort();
    expect(runs).toEqual(['a', 'a']);
  });

  it('never works on one key twice at the same time, and on no more keys than it has workers', async () => {
    const running = new Set<string>();
    let most = 0;
    const { queue, stop } = queueOf(async (key) => {
      expect(running.has(key)).toBe(false);
      running.add(key);
      most = Math.max(most, running.size);
      await sleep(2);
      running.delete(key);
      return undefined;
    });
    for (let round = 0; round < 20; round += 1) {
      for (const key of ['a', 'b', 'c', 'd']) queue.add(key);
      await sleep(1);
    }
    await sleep(40);
    stop.abort();
    expect(most).toBe(2);
  });

  it('tries a failed key again after a backoff, and reports the failure', async () => {
    const times: number[] = [];
    const { queue, stop, errors } = queueOf(() => {
      times.push(performance.now());
      return times.length === 1 ? Promise.reject(new Error('no')) : Promise.resolve(undefined);
    });
    queue.add('a');
    await sleep(1_100);
    stop.abort();
    expect(errors).toEqual([new Error('no')]);
    expect(times).toHaveLength(2);
    expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(850);
  });

  it('lets the earlier of two appointments stand', async () => {
    const runs: number[] = [];
    const started = performance.now();
    const { queue, stop } = queueOf(() => {
      runs.push(performance.now() - started);
      return Promise.resolve(undefined);
    });
    queue.addAfter('a', 30);
    queue.addAfter('a', 200);
    await sleep(120);
    stop.abort();
    expect(runs).toHaveLength(1);
    expect(runs[0]).toBeLessThan(100);
  });
});

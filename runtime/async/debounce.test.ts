import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { Debounce } from './debounce.ts';

const never = new AbortController().signal;
const timed = async (wait: Promise<unknown>): Promise<number> => {
  const started = performance.now();
  await wait;
  return performance.now() - started;
};

describe('a burst of changes', () => {
  it('is over when it is quiet for a while', async () => {
    const debounce = new Debounce({ quietMs: 300, atMostMs: 10_000 });
    let touched = 0;
    const over = debounce.wait(20_000, never).then(() => touched);
    for (; touched < 3; touched += 1) {
      debounce.touch();
      await sleep(30);
    }
    expect(await over).toBe(3);
  });

  it('is not waited for without end', async () => {
    const debounce = new Debounce({ quietMs: 50, atMostMs: 200 });
    const timer = setInterval(() => debounce.touch(), 10);
    const ms = await timed(debounce.wait(5_000, never));
    clearInterval(timer);
    expect(ms).toBeGreaterThan(100);
    expect(ms).toBeLessThan(600);
  });

  it('that came before anybody waited counts', async () => {
    const debounce = new Debounce({ quietMs: 20, atMostMs: 200 });
    debounce.touch();
    expect(await timed(debounce.wait(5_000, never))).toBeLessThan(500);
    debounce.touch();
    expect(await debounce.wait(5_000, never)).toBe(true);
    expect(await debounce.wait(10, never)).toBe(false);
  });
});

describe('without a change', () => {
  it('the wait ends by itself, or with the signal', async () => {
    const debounce = new Debounce({ quietMs: 20, atMostMs: 200 });
    expect(await timed(debounce.wait(60, never))).toBeGreaterThan(40);
    const stop = new AbortController();
    const waited = timed(debounce.wait(60_000, stop.signal));
    stop.abort();
    expect(await waited).toBeLessThan(500);
  });
});

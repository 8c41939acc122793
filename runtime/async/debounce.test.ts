import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Debounce } from './debounce.ts';

const never = new AbortController().signal;

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

function follow(wait: Promise<boolean>): () => boolean | undefined {
  let result: boolean | undefined;
  void wait.then((changed) => (result = changed));
  return () => result;
}

const after = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

describe('a burst of changes', () => {
  it('is over after a quiet period', async () => {
    const debounce = new Debounce({ quietMs: 300, atMostMs: 10_000 });
    const result = follow(debounce.wait(20_000, never));
    for (let touched = 0; touched < 3; touched += 1) {
      debounce.touch();
      await after(299);
      expect(result()).toBeUndefined();
    }
    await after(1);
    expect(result()).toBe(true);
  });

  it.each([0, 3_600_000])('is not waited for without end, also if the clock is set back by %d ms', async (backMs) => {
    const debounce = new Debounce({ quietMs: 50, atMostMs: 200 });
    const result = follow(debounce.wait(5_000, never));
    debounce.touch();
    jest.setSystemTime(Date.now() - backMs);
    for (let ms = 0; ms < 200; ms += 10) {
      expect(result()).toBeUndefined();
      debounce.touch();
      await after(10);
    }
    expect(result()).toBe(true);
  });

  it('counts once if it came before the wait', async () => {
    const debounce = new Debounce({ quietMs: 20, atMostMs: 200 });
    debounce.touch();
    const first = follow(debounce.wait(5_000, never));
    await after(20);
    expect(first()).toBe(true);
    const second = follow(debounce.wait(10, never));
    await after(10);
    expect(second()).toBe(false);
  });
});

describe('without a change', () => {
  it('ends the wait by time or by the signal', async () => {
    const debounce = new Debounce({ quietMs: 20, atMostMs: 200 });
    const idle = follow(debounce.wait(60, never));
    await after(59);
    expect(idle()).toBeUndefined();
    await after(1);
    expect(idle()).toBe(false);
    const stop = new AbortController();
    const stopped = follow(debounce.wait(60_000, stop.signal));
    stop.abort();
    await after(0);
    expect(stopped()).toBe(false);
  });
});

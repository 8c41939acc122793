import { setTimeout as sleep } from 'node:timers/promises';

/** The first pause, and the longest: what takes long is asked for less often, by six control planes on two cores. */
const PAUSE_MS = { first: 50, most: 250 };

/**
 * Tries until `attempt` resolves; after the time is up, rejects with what its last try said.
 * @param intervalMs left out: the pauses grow with what was waited already, a fifth of it
 */
export async function eventually<T>(
  attempt: () => Promise<T> | T,
  { timeoutMs = 20_000, intervalMs }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const began = Date.now();
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      const waited = Date.now() - began;
      if (waited > timeoutMs) throw error;
      await sleep(intervalMs ?? Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.first, waited / 5)));
    }
  }
}

/** The API server writes times in whole seconds: what happens from here on is later than what has happened. */
export const nextSecond = (): Promise<void> => sleep(1_000 - (Date.now() % 1_000) + 20);

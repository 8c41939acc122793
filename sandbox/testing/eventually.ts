import { setTimeout as sleep } from 'node:timers/promises';

/** Tries until `attempt` resolves; after the time is up, rejects with what its last try said. */
export async function eventually<T>(
  attempt: () => Promise<T> | T,
  { timeoutMs = 20_000, intervalMs = 50 }: { timeoutMs?: number; intervalMs?: number } = {},
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(intervalMs);
    }
  }
}

/** The API server writes times in whole seconds: what happens from here on is later than what has happened. */
export const nextSecond = (): Promise<void> => sleep(1_000 - (Date.now() % 1_000) + 20);

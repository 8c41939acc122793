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

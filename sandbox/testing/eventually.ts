import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/** Slow conditions are tried less often, because six control planes share two cores. */
const PAUSE_MS = { first: 50, most: 250 };

interface Patience {
  /** Default: 20 seconds. */
  readonly timeoutMs?: number;
  /** Default: a fifth of the elapsed time. */
  readonly intervalMs?: number;
  readonly complaint?: string;
  /** If one of these ends, the attempts end. */
  readonly processes?: Iterable<{ readonly died: Promise<string> }>;
}

/** Tries until `attempt` resolves. @throws Error with the last error as cause, or with the end of a dead process's log */
export async function eventually<T>(
  attempt: () => Promise<T> | T,
  { timeoutMs = 20_000, intervalMs, complaint, processes = [] }: Patience = {},
): Promise<T> {
  const began = Date.now();
  let dead: string | undefined;
  for (const { died } of processes) void died.then((reason) => (dead ??= reason));
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (dead !== undefined) throw new Error(dead, { cause: error });
      const waited = Date.now() - began;
      if (waited > timeoutMs) throw lateness(complaint, timeoutMs, error);
      await sleep(intervalMs ?? Math.min(PAUSE_MS.most, Math.max(PAUSE_MS.first, waited / 5)));
    }
  }
}

/** Reads until two readings, `pauseMs` apart, are equal: Kubernetes' own controllers also write for a moment. Returns it. */
export const waitForRest = <T>(read: () => Promise<T>, pauseMs: number): Promise<T> =>
  eventually(
    async () => {
      const before = await read();
      await sleep(pauseMs);
      if (!isDeepStrictEqual(await read(), before)) throw new Error(`it still changes: ${JSON.stringify(before)}`);
      return before;
    },
    { timeoutMs: 90_000 },
  );

const lateness = (complaint: string | undefined, timeoutMs: number, cause: unknown): unknown =>
  complaint === undefined ? cause : new Error(`${complaint} within ${timeoutMs / 1_000} s`, { cause });

/** The API server writes times in whole seconds. Resolves when a new one begins. */
export const nextSecond = (): Promise<void> => sleep(1_000 - (Date.now() % 1_000) + 20);

import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../wording/errors.ts';

/** The waits between attempts: each failure doubles the first, up to the longest. */
interface Pace {
  /** Default 500 ms. */
  readonly firstMs?: number;
  /** Default 30 s. */
  readonly maxMs?: number;
}

interface RetryingOptions extends Pace {
  readonly signal: AbortSignal;
  readonly logger?: Pick<Logger, 'warn' | 'debug'> | undefined;
  /** The message of the log, such as `cannot detect the platform, retrying`. */
  readonly failure: string;
  /** Further fields of the log. */
  readonly fields?: object;
  /** Waits for so many milliseconds, or less if there is news. Default: `pause`. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Calls `attempt` until it succeeds, and returns its result; undefined if the signal is aborted first. The log has each new
 * problem as a warning, and repetitions of it at debug level.
 */
export async function retrying<T>(attempt: () => Promise<T>, options: RetryingOptions): Promise<T | undefined> {
  const { signal, logger, failure, fields, wait = pause } = options;
  let last: string | undefined;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) break;
      const problem = describeError(error);
      const retryInMs = Math.round(backoffMs(failures, options));
      logger?.[problem === last ? 'debug' : 'warn']({ ...fields, problem, retryInMs }, failure);
      last = problem;
      await wait(retryInMs, signal);
    }
  }
  return undefined;
}

interface BackoffOptions extends Pace {
  /** In [0, 1). Default: at random. */
  readonly random?: number;
  /** The wait that the server asked for. */
  readonly atLeastMs?: number;
}

/**
 * Returns how long to wait after so many failures in a row. Up to a half is taken off at random, so that a thousand clients of a
 * restarted server do not come back at once.
 */
export function backoffMs(failures: number, options: BackoffOptions = {}): number {
  const { firstMs = 500, maxMs = 30_000, random = Math.random(), atLeastMs = 0 } = options;
  const full = Math.min(maxMs, firstMs * 2 ** Math.max(0, Math.min(failures, 30) - 1));
  return Math.max(full * (1 - random / 2), atLeastMs);
}

/** Resolves after so many milliseconds, or when the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

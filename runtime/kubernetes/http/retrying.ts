import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../../wording/errors.ts';
import { backoffMs } from './plan-retry.ts';

interface RetryingOptions {
  readonly signal: AbortSignal;
  readonly logger: Pick<Logger, 'warn' | 'debug'>;
  /** The message of the log, such as `cannot detect the platform, retrying`. */
  readonly failure: string;
  /** The wait after the first failure, of which up to a half is taken off at random. Each further failure doubles it. */
  readonly firstMs: number;
  /** The longest wait. Default: `firstMs`, so the pace does not change. */
  readonly maxMs?: number;
  /** Waits for so many milliseconds, or less if there is news. Default: `pause`. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Calls `attempt` until it succeeds, and returns its result; undefined if the signal is aborted first. The log has each new
 * problem as a warning, and repetitions of it at debug level.
 */
export async function retrying<T>(attempt: () => Promise<T>, options: RetryingOptions): Promise<T | undefined> {
  const { signal, logger, failure, firstMs, maxMs = firstMs, wait = pause } = options;
  let last: string | undefined;
  for (let failures = 1; !signal.aborted; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (signal.aborted) break;
      const problem = describeError(error);
      const retryInMs = Math.round(backoffMs(failures, { firstMs, maxMs }, Math.random()));
      logger[problem === last ? 'debug' : 'warn']({ problem, retryInMs }, failure);
      last = problem;
      await wait(retryInMs, signal);
    }
  }
  return undefined;
}

/** Resolves after so many milliseconds, or when the signal is aborted. */
export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

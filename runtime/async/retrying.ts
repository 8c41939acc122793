import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { describeError } from '../wording/errors.ts';

interface BackoffOptions {
  /** Default: 500 ms. */
  readonly firstMs?: number;
  /** Default: 30 s. */
  readonly maxMs?: number;
  /** In [0, 1). Default: at random. */
  readonly random?: number;
  readonly atLeastMs?: number | undefined;
}

interface RetryingOptions extends Pick<BackoffOptions, 'firstMs' | 'maxMs'> {
  readonly signal: AbortSignal;
  readonly logger?: Pick<Logger, 'warn' | 'debug'> | undefined;
  readonly failure: string;
  readonly fields?: object;
  /** May resolve earlier, or later than the log says. Default: `pause`. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}

/** Calls `attempt` until it succeeds; undefined on abort. The log has a repeated problem at debug level only. */
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

/** Returns a log of failures. It warns once of each subject until it succeeds, and has the other failures at debug level. */
export function failureLog(logger: Pick<Logger, 'warn' | 'debug'>, message: string) {
  const failing = new Set<string>();
  return (subject: object, problem: string | undefined): void => {
    const key = JSON.stringify(subject);
    if (problem !== undefined) logger[failing.has(key) ? 'debug' : 'warn']({ ...subject, problem }, message);
    if (problem === undefined) failing.delete(key);
    else failing.add(key);
  };
}

/** Returns the wait in milliseconds, randomly reduced by up to a half, so that clients of a restarted server spread. */
export function backoffMs(failures: number, options: BackoffOptions = {}): number {
  const { firstMs = 500, maxMs = 30_000, random = Math.random(), atLeastMs = 0 } = options;
  const full = Math.min(maxMs, firstMs * 2 ** (failures - 1));
  return Math.max(full * (1 - random / 2), atLeastMs);
}

export const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(ms, undefined, { signal }).catch(() => undefined);

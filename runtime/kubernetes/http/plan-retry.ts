/** What went wrong with one attempt of a request. */
export interface FailedAttempt {
  /** The answer's status, if there was one. */
  readonly status?: number | undefined;
  readonly retryAfterSeconds?: number | undefined;
  /** A kept-alive connection broke before a byte of the answer came: the server closed it while it lay idle. */
  readonly staleSocket?: boolean;
}

interface RetryContext {
  /** Attempts made so far, the failed one included. */
  readonly attempts: number;
  /** Sending it twice does no harm: it reads, or the server refuses or ignores the second. */
  readonly repeatable: boolean;
  /** In [0, 1). */
  readonly random: number;
}

const maxThrottledAttempts = 5;
/** Longer waits are the caller's: its own backoff knows what else there is to do. */
const maxWaitSeconds = 10;

/**
 * After how many milliseconds to send it again; undefined: not at all. 429, and 503 with Retry-After, mean that the server
 * did not take the request up, so any verb may be sent again; the wait is the server's, plus up to half of it so that clients
 * do not return in step. A stale socket costs one repeat at once. Everything else is for the caller to judge.
 */
export function planRetry(failed: FailedAttempt, context: RetryContext): number | undefined {
  if (failed.staleSocket === true) return context.repeatable && context.attempts === 1 ? 0 : undefined;
  const throttled = failed.status === 429 || (failed.status === 503 && failed.retryAfterSeconds !== undefined);
  const seconds = failed.retryAfterSeconds ?? 1;
  if (!throttled || seconds > maxWaitSeconds || context.attempts >= maxThrottledAttempts) return undefined;
  return Math.max(seconds, 0.1) * 1000 * (1 + context.random / 2);
}

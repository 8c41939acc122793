import { ApiError } from './errors.ts';
import { StaleSocketError } from './exchange.ts';

/** The part of a request that decides if it may be sent again. */
export interface Repetition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /**
   * Sending it twice does no harm. It matters if a kept-alive connection breaks before the first byte of the answer. Default: true
   * for GET and for PUT, whose second one the resourceVersion refuses. A guarded patch or delete may set it; a POST never does.
   */
  readonly repeatable?: boolean | undefined;
  /** A 429 is the answer of a disruption budget, not of a busy server: the caller decides when to ask again. */
  readonly throttledIsFinal?: boolean | undefined;
}

interface RetryContext {
  /** The attempts made so far, with the failed one. */
  readonly attempts: number;
  /** In [0, 1). */
  readonly random: number;
}

const MAX_THROTTLED_ATTEMPTS = 5;
/** A longer wait is the caller's, whose own backoff knows what else there is to do. */
const MAX_WAIT_SECONDS = 10;

/**
 * Returns after how many milliseconds to send a request again; undefined: not at all. 429, and 503 with Retry-After, mean that the
 * server did not begin, so any verb may be sent again. The wait is the server's, plus up to half of it so that clients do not return in
 * step. A stale socket costs one repetition at once. Everything else is for the caller to judge.
 */
export function retryAfterMs(error: unknown, request: Repetition, { attempts, random }: RetryContext) {
  if (error instanceof StaleSocketError) return isRepeatable(request) && attempts === 1 ? 0 : undefined;
  if (!(error instanceof ApiError)) return undefined;
  const seconds = error.retryAfterSeconds ?? 1;
  const isOver = seconds > MAX_WAIT_SECONDS || attempts >= MAX_THROTTLED_ATTEMPTS;
  return isOver || !isThrottled(error, request) ? undefined : Math.max(seconds, 0.1) * 1_000 * (1 + random / 2);
}

const isThrottled = ({ status, retryAfterSeconds }: ApiError, { throttledIsFinal }: Repetition): boolean =>
  status === 429 ? throttledIsFinal !== true : status === 503 && retryAfterSeconds !== undefined;

const isRepeatable = ({ method, repeatable }: Repetition): boolean =>
  repeatable ?? (method === 'GET' || method === 'PUT');

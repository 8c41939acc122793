import { ApiError } from './errors.ts';
import { StaleSocketError } from './exchange.ts';

export interface Repetition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** True if a repeated request does no harm. Default: GET, and PUT, which the resourceVersion guards. */
  readonly repeatable?: boolean | undefined;
  /** A 429 is from a disruption budget and not from a busy server, so the caller decides when to retry. */
  readonly throttledIsFinal?: boolean | undefined;
}

interface RetryContext {
  readonly attempts: number;
  readonly random: number;
}

const MAX_THROTTLED_ATTEMPTS = 5;
/** A longer wait is left to the caller's backoff. */
const MAX_WAIT_SECONDS = 10;

/**
 * Returns in how many milliseconds to send a request again; undefined: never. After 429, and 503 with Retry-After, the
 * server did not begin. Up to half of the wait is added, so that clients do not return in step.
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

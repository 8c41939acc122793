import { ApiError } from './errors.ts';
import { StaleSocketError } from './exchange.ts';

/** `work` is bounded, to protect the API server. `standing` is for watches, their lists and the lease. */
export type Pool = 'work' | 'standing';

export interface Repetition {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** True if a repeated request does no harm. Default: GET, and PUT, which the resourceVersion guards. */
  readonly repeatable?: boolean | undefined;
  /** Default `work`. */
  readonly pool?: Pool | undefined;
  /** The limit of all waits for a busy server, in milliseconds. 0: the caller decides when to retry. */
  readonly maxWaitMs?: number | undefined;
}

interface RetryContext {
  readonly attempts: number;
  /** Milliseconds of the waits so far. */
  readonly waitedMs: number;
  readonly random: number;
}

const MAX_THROTTLED_ATTEMPTS = 5;
/** The API server asks for up to 32 s. A watch that would wait longer than this counts as broken. */
const maxWaits: Readonly<Record<Pool, number>> = { work: 48_000, standing: 15_000 };

/**
 * Returns in how many milliseconds to send a request again; undefined: never. After 429, and 503 with Retry-After, the
 * server did not begin. Up to half of the wait is added, so that clients do not return in step.
 */
export function retryAfterMs(error: unknown, request: Repetition, { attempts, waitedMs, random }: RetryContext) {
  if (error instanceof StaleSocketError) return isRepeatable(request) && attempts === 1 ? 0 : undefined;
  if (!(error instanceof ApiError) || !isThrottled(error) || attempts >= MAX_THROTTLED_ATTEMPTS) return undefined;
  const afterMs = Math.max(error.retryAfterSeconds ?? 1, 0.1) * 1_000 * (1 + random / 2);
  return waitedMs + afterMs > getMaxWaitMs(request) ? undefined : afterMs;
}

const getMaxWaitMs = ({ pool = 'work', maxWaitMs }: Repetition): number => maxWaitMs ?? maxWaits[pool];

const isThrottled = ({ status, retryAfterSeconds }: ApiError): boolean =>
  status === 429 || (status === 503 && retryAfterSeconds !== undefined);

const isRepeatable = ({ method, repeatable }: Repetition): boolean =>
  repeatable ?? (method === 'GET' || method === 'PUT');

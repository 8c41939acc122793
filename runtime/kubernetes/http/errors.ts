import { isPlainObject } from '../../json/values.ts';
import { printable } from '../../wording/printable.ts';
import { withoutTokens } from '../../wording/token.ts';

/** The answer of a request that failed. */
interface Refusal {
  readonly status: number;
  readonly subject: string;
  readonly retryAfterSeconds?: number | undefined;
}

interface Status {
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly metadata?: { readonly continue?: string };
  readonly details?: { readonly retryAfterSeconds?: number; readonly causes?: readonly { readonly reason?: string }[] };
}

/** A status of 300 or more from the API server or a proxy, or an ERROR event of a watch. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  /** e.g. `NotFound`; empty if something other than the API server answered. */
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  /** Continues an expired list at the latest version, which is not consistent with the pages before. */
  readonly continueToken: string | undefined;
  readonly #details: Status['details'];

  /** Quotes only a Status of the API server: a proxy's page may hold anything, also the request's credentials. */
  constructor(body: unknown, { status, subject, retryAfterSeconds }: Refusal) {
    const { code, reason, message, metadata, details } = (isPlainObject(body) ? body : {}) as Status;
    const known = typeof code === 'number' ? code : status;
    const unexplained = `${subject} failed with status ${known} and no Kubernetes Status; check that no proxy answers for the API server`;
    super(typeof message === 'string' && message !== '' ? quoted(message) : unexplained);
    // A webhook denies with any code, also that of a missing object or of a conflict.
    this.status = /^admission webhook "[^"]*" denied the request/.test(this.message) ? 403 : known;
    this.reason = typeof reason === 'string' ? reason : '';
    this.retryAfterSeconds = retryAfterSeconds ?? details?.retryAfterSeconds;
    this.continueToken = metadata?.continue;
    this.#details = details;
  }

  hasCause(reason: string): boolean {
    return [this.#details?.causes].flat().some((cause) => cause?.reason === reason);
  }
}

/** No answer: refused, reset, timed out, or a certificate that is not trusted. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  constructor(
    message: string,
    /** Node's code, e.g. `ECONNREFUSED`; `TIMEOUT` if the answer took too long. */
    readonly code: string,
  ) {
    super(message);
  }
}

export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';

  constructor(
    path: string,
    readonly maxBytes: number,
    /** The answer's first bytes as text. */
    readonly head: string,
  ) {
    super(`The answer from ${path} exceeds the limit of ${maxBytes} bytes; make the object smaller`);
  }
}

const hasStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status;

export const isUnauthorized = (error: unknown): error is ApiError => hasStatus(error, 401);
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);
export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404);
export const isGone = (error: unknown): error is ApiError => hasStatus(error, 410);
/** `AlreadyExists` has the same status. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== 'AlreadyExists';
export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason === 'AlreadyExists';

export const undefinedIf =
  (isExpected: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!isExpected(error)) throw error;
  };

export const undefinedIfNotFound = undefinedIf(isNotFound);

/** Returns the milliseconds to wait that the server asks for, at most a minute. A proxy's page may ask for hours. */
export function askedWaitMs(error: unknown): number {
  const { retryAfterSeconds: seconds } = error instanceof ApiError ? error : {};
  return typeof seconds === 'number' ? Math.min(seconds, 60) * 1_000 : 0;
}

/** Returns true if a retry will not help: the API server or a webhook refused, or the object is too large to read. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof AnswerTooLargeError ||
  (error instanceof ApiError &&
    (error.status < 500 ? ![408, 409, 429].includes(error.status) : error.message.includes('webhook')));

/** An eviction for which two disruption budgets apply fails with status 201, so only its body says so. */
export const isFailure = (body: unknown): boolean =>
  isPlainObject(body) && body['kind'] === 'Status' && body['status'] === 'Failure';

/** The numbers of characters that are searched for tokens, and that are kept. */
const MAX_SEARCHED = 16_384;
const MAX_QUOTED = 2_000;

/** The message is logged, and may quote what was sent. Copied, because a slice keeps the whole message in memory. */
const quoted = (message: string): string =>
  Buffer.from(printable(withoutTokens(message.slice(0, MAX_SEARCHED))).slice(0, MAX_QUOTED)).toString();

import { printable } from '../../wording/printable.ts';
import { withoutTokens } from '../../wording/token.ts';
interface ApiFailure {
  readonly status: number;
  /** e.g. `NotFound`; empty if something other than the API server answered. */
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
  readonly causes?: readonly { readonly reason?: string }[] | undefined;
  /** Continues an expired list at the latest version, which is not consistent with the pages before. */
  readonly continueToken?: string | undefined;
}

/** A status of 400 or more from the API server or a proxy, or an ERROR event of a watch. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly reason: string;
  readonly retryAfterSeconds: number | undefined;
  readonly #causes: ApiFailure['causes'];
  readonly continueToken: string | undefined;

  constructor(failure: ApiFailure) {
    super(failure.message);
    this.status = failure.status;
    this.reason = failure.reason;
    this.retryAfterSeconds = failure.retryAfterSeconds;
    this.#causes = failure.causes;
    this.continueToken = failure.continueToken;
  }

  hasCause(reason: string): boolean {
    return this.#causes?.some((cause) => cause.reason === reason) === true;
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
    super(`The answer to GET ${path} exceeds the limit of ${maxBytes} bytes; make the object smaller`);
  }
}

const hasStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status;

export const isUnauthorized = (error: unknown): error is ApiError => hasStatus(error, 401);

export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404);

export const undefinedIf =
  (isExpected: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!isExpected(error)) throw error;
  };

export const undefinedIfNotFound = undefinedIf(isNotFound);

/** `AlreadyExists` has the same status. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== 'AlreadyExists';
export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason === 'AlreadyExists';
export const isGone = (error: unknown): error is ApiError => hasStatus(error, 410);
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);

/** Returns the milliseconds to wait that the server asks for. */
export const askedWaitMs = (error: unknown): number =>
  error instanceof ApiError ? (error.retryAfterSeconds ?? 0) * 1_000 : 0;

/** Returns true if a retry will not help: the API server or a webhook refused, or the object is too large to read. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof AnswerTooLargeError ||
  (error instanceof ApiError &&
    (error.status < 500 ? ![408, 409, 429].includes(error.status) : error.message.includes('webhook')));

interface Status {
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly message?: unknown;
  readonly metadata?: { readonly continue?: string };
  readonly details?: Pick<ApiFailure, 'retryAfterSeconds' | 'causes'>;
}

/** An eviction for which two disruption budgets apply fails with status 201, so only its body says so. */
export const isFailure = (body: unknown): boolean => {
  const { kind, status } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return kind === 'Status' && status === 'Failure';
};

interface Refusal {
  readonly status: number;
  readonly subject: string;
  readonly retryAfterSeconds?: number | undefined;
}

/** Quotes only a Status of the API server: a proxy's page may hold anything, also the request's credentials. */
export function toApiError(body: unknown, refusal: Refusal): ApiError {
  const status = (typeof body === 'object' && body !== null ? body : {}) as Status;
  const code = typeof status.code === 'number' ? status.code : refusal.status;
  return new ApiError({
    status: code,
    reason: toText(status.reason) ?? '',
    message:
      quoted(toText(status.message)) ??
      `${refusal.subject} failed with status ${String(code)} and no Kubernetes Status; check that no proxy answers for the API server`,
    retryAfterSeconds: refusal.retryAfterSeconds ?? status.details?.retryAfterSeconds,
    causes: status.details?.causes,
    continueToken: status.metadata?.continue,
  });
}

/** The numbers of characters that are searched for tokens, and that are kept. */
const MAX_SEARCHED = 16_384;
const MAX_QUOTED = 2_000;

/** The message is logged, and may quote what was sent. Copied, because a slice keeps the whole message in memory. */
const quoted = (message: string | undefined): string | undefined =>
  message === undefined
    ? undefined
    : Buffer.from(printable(withoutTokens(message.slice(0, MAX_SEARCHED))).slice(0, MAX_QUOTED)).toString();

const toText = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

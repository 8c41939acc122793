import { printable } from '../../wording/printable.ts';
import { withoutTokens } from '../../wording/token.ts';
/** What an ApiError is made of, taken from a Kubernetes Status where the server sent one. */
interface ApiFailure {
  readonly status: number;
  /** The machine-readable reason of the Status, e.g. `NotFound`; empty when something other than the API server answered. */
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds?: number | undefined;
  /** The Status' `details.causes`. */
  readonly causes?: readonly { readonly reason?: string }[] | undefined;
  /** A token that continues an expired list from the next key at the latest version (not consistent with the pages before). */
  readonly continueToken?: string | undefined;
}

/** The API server (or something before it) answered with a status of 400 or more, or with an ERROR event in a watch. */
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

  /** Whether the Status names this among its causes, e.g. `NamespaceTerminating`. */
  hasCause(reason: string): boolean {
    return this.#causes?.some((cause) => cause.reason === reason) === true;
  }
}

/** The API server did not answer: refused, reset, timed out, or its certificate is not trusted. The message is the whole story. */
export class ConnectionError extends Error {
  override readonly name = 'ConnectionError';
  constructor(
    message: string,
    /** Node's code, e.g. `ECONNREFUSED`; `TIMEOUT` when the answer took too long. */
    readonly code: string,
  ) {
    super(message);
  }
}

/** An answer has more bytes than are read: the connection was closed, and nothing of the answer was kept. */
export class AnswerTooLargeError extends Error {
  override readonly name = 'AnswerTooLargeError';

  constructor(path: string, maxBytes: number) {
    super(`The answer to GET ${path} exceeds the limit of ${maxBytes} bytes; make the object smaller`);
  }
}

const hasStatus = (error: unknown, status: number): error is ApiError =>
  error instanceof ApiError && error.status === status;

/** The login of the request was refused. */
export const isUnauthorized = (error: unknown): error is ApiError => hasStatus(error, 401);

export const isNotFound = (error: unknown): error is ApiError => hasStatus(error, 404);

/** For `catch`: what is expected is undefined, and every other error stays one. */
export const undefinedIf =
  (isExpected: (error: unknown) => boolean) =>
  (error: unknown): undefined => {
    if (!isExpected(error)) throw error;
  };

export const undefinedIfNotFound = undefinedIf(isNotFound);

/** The object changed since it was read. `AlreadyExists` has the same status and is another matter. */
export const isConflict = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason !== 'AlreadyExists';
export const isAlreadyExists = (error: unknown): error is ApiError =>
  hasStatus(error, 409) && error.reason === 'AlreadyExists';
/** A resourceVersion or continue token is older than what the server remembers. */
export const isGone = (error: unknown): error is ApiError => hasStatus(error, 410);
export const isForbidden = (error: unknown): error is ApiError => hasStatus(error, 403);

/**
 * Whether trying again soon will not help: the API server, or an admission webhook it asked, said no, or the object is too large to be
 * read. Everything else (no answer, too busy, changed meanwhile) says nothing of the object.
 */
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

/** An eviction that two disruption budgets bear upon fails under the status 201: then its body alone says so. */
export const isFailure = (body: unknown): boolean => {
  const { kind, status } = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  return kind === 'Status' && status === 'Failure';
};

/** What is known of a refusal besides its body. */
interface Refusal {
  readonly status: number;
  /** What was asked, e.g. `GET /api/v1/pods`. */
  readonly subject: string;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * The error in an answer's body or in a watch's ERROR event. A body that is no API server's Status is not quoted: a
 * proxy's page may hold anything, the request's own credentials among it.
 */
export function apiErrorOf(body: unknown, refusal: Refusal): ApiError {
  const status = (typeof body === 'object' && body !== null ? body : {}) as Status;
  const code = typeof status.code === 'number' ? status.code : refusal.status;
  return new ApiError({
    status: code,
    reason: textOf(status.reason) ?? '',
    message:
      quoted(textOf(status.message)) ??
      `${refusal.subject} failed with status ${String(code)} and no Kubernetes Status; check that no proxy answers for the API server`,
    retryAfterSeconds: refusal.retryAfterSeconds ?? status.details?.retryAfterSeconds,
    causes: status.details?.causes,
    continueToken: status.metadata?.continue,
  });
}

/** In characters: how much of a message is searched for tokens, and how much is kept. */
const [MAX_SEARCHED, MAX_QUOTED] = [16_384, 2_000];

/** It quotes what was sent, and stands in logs, events and statuses from here on. Copied: a slice would keep all of the message in memory. */
const quoted = (message: string | undefined): string | undefined =>
  message === undefined
    ? undefined
    : Buffer.from(printable(withoutTokens(message.slice(0, MAX_SEARCHED))).slice(0, MAX_QUOTED)).toString();

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

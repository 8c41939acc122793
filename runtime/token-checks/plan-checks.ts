import type { Problem } from '../api/lumigo.ts';
import type { TokenSource } from '../credentials/credential.ts';

export interface Asked {
  /** The time of the last request, or when a new token was first seen. Milliseconds of the monotonic clock. */
  readonly at: number;
  /** No request had this token yet. */
  readonly isNew?: boolean;
  /** Undefined until an answer says so. */
  readonly verdict: 'accepted' | 'refused' | undefined;
  /** Refusals in a row. */
  readonly refusals: number;
  readonly status: number;
}

/** The minimum time between two requests: 20 a minute, whatever the number of namespaces. */
export const APART_MS = 3_000;

/** Returns what is known of the tokens that a tenant still has. */
export const keepPresent = (
  tenants: readonly { readonly token: string }[],
  asked: ReadonlyMap<string, Asked>,
  now: number,
) => new Map(tenants.map(({ token }) => [token, asked.get(token) ?? newAt(now)]));

export const newAt = (at: number): Asked => ({ at, isNew: true, verdict: undefined, refusals: 0, status: 0 });

/** One refusal may be temporary, so the second in a row counts. Answers without a verdict change nothing. */
export function heard(status: number, at: number, { verdict, refusals, status: last }: Asked): Asked {
  if (status === 401 || status === 403)
    return { at, verdict: refusals > 0 ? 'refused' : verdict, refusals: refusals + 1, status };
  const isAccepted = status >= 200 && status < 300;
  return { at, verdict: isAccepted ? 'accepted' : verdict, refusals: isAccepted ? 0 : refusals, status: last };
}

/** A refused token is asked about every minute, because a user is about to fix it. */
export function askAt({ at, isNew, verdict, refusals }: Asked): number {
  if (isNew) return at;
  if (refusals === 1) return at + 5_000;
  return at + (verdict === 'accepted' ? 300_000 : 60_000);
}

/** New and known tokens take turns, so no tenant delays others by new tokens. The first that was due comes first. */
export function nextToken(asked: ReadonlyMap<string, Asked>, now: number, wasNew: boolean) {
  const due = [...asked].filter(([, each]) => askAt(each) <= now);
  const isLast = ({ isNew = false }: Asked): number => Number(isNew === wasNew);
  return due.toSorted(([, a], [, b]) => isLast(a) - isLast(b) || askAt(a) - askAt(b))[0];
}

export interface TokenSeen {
  /** The generation of the `Lumigo` that names the token. */
  readonly generation?: number | undefined;
  /** `working` if Lumigo's endpoint accepts the token. Missing until the first answer. */
  readonly accepted?: Problem | 'working';
}

export function tokenSeen({ namespace, name, key }: TokenSource, asked: Asked | undefined): TokenSeen {
  if (asked?.verdict === undefined) return {};
  if (asked.verdict === 'accepted') return { accepted: 'working' };
  const message = `Lumigo's endpoint refuses the token under '${key}' in Secret '${namespace}/${name}' (HTTP ${asked.status}) and drops the data of this namespace. Put a valid token into the Secret (https://docs.lumigo.io/docs/lumigo-tokens). The operator checks again every minute`;
  return { accepted: { reason: 'TokenRefused', message } };
}

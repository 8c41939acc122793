export interface Asked {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  /** Undefined until an answer says so. */
  readonly verdict: 'accepted' | 'refused' | undefined;
  /** Refusals in a row. */
  readonly refusals: number;
  readonly status: number;
}

/** The minimum time between two requests: 20 a minute, whatever the number of namespaces. */
export const APART_MS = 3_000;

/** One refusal may be temporary, so the second in a row counts. Answers without a verdict change nothing. */
export function heard(status: number, at: number, before: Asked | undefined): Asked {
  const { verdict, refusals = 0, status: last = 0 } = before ?? {};
  if (status === 401 || status === 403)
    return { at, verdict: refusals > 0 ? 'refused' : verdict, refusals: refusals + 1, status };
  return status >= 200 && status < 300
    ? { at, verdict: 'accepted', refusals: 0, status: last }
    : { at, verdict, refusals, status: last };
}

/** A refused token is asked about every minute, because a user is about to fix it. */
export function askAt(asked: Asked | undefined): number {
  if (asked === undefined) return -Infinity;
  const { at, verdict, refusals } = asked;
  return at + (refusals === 1 ? 5_000 : verdict === 'accepted' ? 300_000 : 60_000);
}

export function firstDue<T>(items: Iterable<T>, dueAt: (item: T) => number, now: number): T | undefined {
  const due = [...items].map((item) => ({ item, at: dueAt(item) })).filter(({ at }) => at <= now);
  return due.toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at))[0]?.item;
}

/** What is known of one token, by asking Lumigo's endpoint about it. */
export interface Asked {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  /** Undefined: no answer said so yet. */
  readonly verdict: 'accepted' | 'refused' | undefined;
  /** How often in a row it was refused. */
  readonly refusals: number;
  /** The HTTP status of the last refusal. */
  readonly status: number;
}

/** The least time between two requests: 20 a minute, whatever the number of namespaces. */
export const APART_MS = 3_000;

/** What follows from an answer. One refusal may be a moment's, the second in a row counts; what says neither yes nor no changes nothing. */
export function heard(status: number, at: number, before: Asked | undefined): Asked {
  const { verdict, refusals = 0, status: last = 0 } = before ?? {};
  if (status === 401 || status === 403)
    return { at, verdict: refusals > 0 ? 'refused' : verdict, refusals: refusals + 1, status };
  return status >= 200 && status < 300
    ? { at, verdict: 'accepted', refusals: 0, status: last }
    : { at, verdict, refusals, status: last };
}

/** What is in order is asked about rarely, what is refused every minute, since somebody is about to mend it. */
export function askAt(asked: Asked | undefined): number {
  if (asked === undefined) return -Infinity;
  const { at, verdict, refusals } = asked;
  return at + (refusals === 1 ? 5_000 : verdict === 'accepted' ? 300_000 : 60_000);
}

/** The one that was due first, if any is due. */
export function firstDue<T>(items: Iterable<T>, dueAt: (item: T) => number, now: number): T | undefined {
  const due = [...items].map((item) => ({ item, at: dueAt(item) })).filter(({ at }) => at <= now);
  return due.toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at))[0]?.item;
}

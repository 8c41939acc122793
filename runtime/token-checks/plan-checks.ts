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

/** What is known of a namespace's pods, by looking at them after its token was replaced. */
export interface Found extends FormerPods {
  /** Milliseconds of the monotonic clock. */
  readonly at: number;
  /** When the token was replaced, ISO 8601. */
  readonly replacedAt: string;
}

/** Pods that run with a token which does not stand in the Secret any more. */
export interface FormerPods {
  readonly pods: number;
  /** `Deployment/cart`, sorted. */
  readonly workloads: readonly string[];
}

/** Of each kind of request at most one in so long: 20 a minute, whatever the number of namespaces. */
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

/**
 * Restarts come soon after a rotation or late: the longer it is ago, the more rarely pods are checked; when none is left, no more.
 * @param today milliseconds since 1970
 */
export function findAt(found: Found | undefined, replacedAt: string, today: number): number {
  if (found?.replacedAt !== replacedAt) return -Infinity;
  if (found.pods === 0) return Infinity;
  return found.at + Math.min(Math.max((today - Date.parse(replacedAt)) / 10, 15_000), 300_000);
}

/** The one that was due first, if any is due. */
export function firstDue<T>(items: Iterable<T>, dueAt: (item: T) => number, now: number): T | undefined {
  const due = [...items].map((item) => ({ item, at: dueAt(item) })).filter(({ at }) => at <= now);
  return due.toSorted((a, b) => (a.at === b.at ? 0 : a.at - b.at))[0]?.item;
}

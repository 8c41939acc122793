/** What of a Secret decides when it is read next. Times are milliseconds since 1970. */
export interface ReadingState {
  /** When it was last read; undefined: never with success. */
  readonly readAt: number | undefined;
  /** From when on it should be read at once, since something tells that it may be another one. */
  readonly toldAt: number | undefined;
  /** Not before, since it could not be read. */
  readonly retryAt: number;
  /** It is not in order, so somebody is about to mend it. */
  readonly isAwaited: boolean;
  /** Since when it is wanted as it is now. */
  readonly wantedAt: number;
  /** The status of a Lumigo will tell of another version, so that a replica which does not lead need not look. */
  readonly isAnnounced: boolean;
}

export type Priority = 'first' | 'told' | 'awaited' | 'regular';

interface ReadingContext {
  readonly leads: boolean;
  /** When a Secret was last read, by priority. */
  readonly last: Readonly<Partial<Record<Priority, number>>>;
  readonly now: number;
}

/** How long after it was read a Secret is due again, and how far two readings of one priority are apart. */
interface Pace {
  readonly afterMs: number;
  readonly apartMs: number;
}

/**
 * Bursts are bound: 20 a second of Secrets never read, two a second of those that something tells of. Of the others the leader
 * reads for all, 0.8 a second at most; what it finds it tells the other replicas by the status.
 */
const leader: Readonly<Record<Priority, Pace>> = {
  first: { afterMs: 0, apartMs: 50 },
  told: { afterMs: 0, apartMs: 500 },
  awaited: { afterMs: 3_000, apartMs: 2_000 },
  regular: { afterMs: 15_000, apartMs: 1_250 },
};

/** These look for themselves only where no status tells: at most every ten seconds. */
const follower: typeof leader = { ...leader, regular: { afterMs: 60_000, apartMs: 10_000 } };

/** So long does a replica that does not lead look eagerly for a Secret that is not in order; a rollout calls it later. */
const YOUNG_MS = 2 * 60_000;

/** Two readings because something tells of the same Secret are at least so far apart. */
export const TOLD_APART_MS = 2_000;

/** A Secret that is replaced, as Pulumi does with one whose content changes, is away for less than this. */
export const REPLACEMENT_MS = 1_000;

const order: readonly Priority[] = ['first', 'told', 'awaited', 'regular'];

function priorityOf(state: ReadingState, { leads, now }: ReadingContext): Priority | undefined {
  if (state.readAt === undefined) return 'first';
  if (state.toldAt !== undefined) return 'told';
  if (state.isAwaited && (leads || now < state.wantedAt + YOUNG_MS)) return 'awaited';
  return leads || !state.isAnnounced ? 'regular' : undefined;
}

/** When the next reading of a priority may begin; the two that go on for ever share one pace. */
function freeAt(priority: Priority, { leads, last }: ReadingContext): number {
  const after = (which: Priority, ms: number): number => (last[which] ?? -Infinity) + ms;
  const { [priority]: own, regular } = leads ? leader : follower;
  if (priority === 'first' || priority === 'told') return after(priority, own.apartMs);
  const apartMs = priority === 'awaited' ? leader.regular.apartMs : regular.apartMs;
  return Math.max(after('regular', apartMs), after('awaited', priority === 'awaited' ? own.apartMs : apartMs));
}

function dueAt(state: ReadingState, priority: Priority, { leads }: ReadingContext): number {
  const { readAt = -Infinity, toldAt = -Infinity, retryAt } = state;
  const { afterMs } = (leads ? leader : follower)[priority];
  return Math.max(priority === 'told' ? toldAt : readAt + afterMs, retryAt);
}

/** The Secret to read now, if any; else when to look again at the latest (Infinity: when something changes). */
type Reading<T> =
  { readonly read: T; readonly priority: Priority } | { readonly read?: undefined; readonly at: number };

/**
 * Which Secret to read next: those never read, then those that something tells of, those that are awaited, the others;
 * within a priority the one that was due first. So no priority starves the one behind it, as each keeps to its pace.
 */
export function planReading<T extends ReadingState>(states: Iterable<T>, context: ReadingContext): Reading<T> {
  const free = new Map(order.map((priority) => [priority, freeAt(priority, context)]));
  let best: { state: T; rank: number; due: number; priority: Priority } | undefined;
  let next = Infinity;
  for (const state of states) {
    const priority = priorityOf(state, context);
    if (priority === undefined) continue;
    const due = dueAt(state, priority, context);
    const at = Math.max(due, free.get(priority) ?? 0);
    const rank = order.indexOf(priority);
    if (at > context.now) next = Math.min(next, at);
    else if (best === undefined || rank < best.rank || (rank === best.rank && due < best.due))
      best = { state, rank, due, priority };
  }
  return best === undefined ? { at: next } : { read: best.state, priority: best.priority };
}

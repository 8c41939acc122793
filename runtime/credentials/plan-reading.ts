/** Times are milliseconds by one clock. */
export interface ReadingState {
  readonly namespace: string;
  /** Undefined until it is read or unreadable. */
  readonly readAt: number | undefined;
  /** The time from which it must be read, because its content may have changed. */
  readonly reportedAt: number | undefined;
  /** The earliest time after a failure. */
  readonly retryAt: number;
  /** The Secret has no valid token, so a user is about to fix it. */
  readonly isAwaited: boolean;
  /** The status of a `Lumigo` reports each new version, so only the leader reads the Secret. */
  readonly isAnnounced: boolean;
}

export type Priority = 'first' | 'told' | 'awaited' | 'regular';

/** `last`: the times of the last reads of each priority, and of each `PRIORITY/NAMESPACE`. */
type ReadingContext = Readonly<{ leads: boolean; last: ReadonlyMap<string, number>; now: number }>;

/** The first two allow 100 and 2 reads a second. The other two share one pace of 48 a minute. */
const paces: Readonly<Record<Priority, { readonly afterMs: number; readonly apartMs: number }>> = {
  first: { afterMs: 0, apartMs: 10 },
  told: { afterMs: 0, apartMs: 500 },
  awaited: { afterMs: 3_000, apartMs: 2_000 },
  regular: { afterMs: 15_000, apartMs: 1_250 },
};

/** A replica that does not lead reads only what no status reports, at six a minute. */
const FOLLOWER_FACTOR = 8;

/** The minimum between two reads because of news, in milliseconds. */
export const TOLD_APART_MS = 2_000;

/** Pulumi replaces a Secret whose content changes, and saves its state between. It is missing for less than this time. */
export const REPLACEMENT_MS = 10_000;

const REMEMBERED_MS = 60 * 60_000;

const order = Object.keys(paces) as readonly Priority[];

function findPriority(state: ReadingState, leads: boolean): Priority | undefined {
  if (state.readAt === undefined) return 'first';
  if (state.reportedAt !== undefined) return 'told';
  if (state.isAnnounced && !leads) return undefined;
  return state.isAwaited ? 'awaited' : 'regular';
}

function freeAt(priority: Priority, { leads, last }: ReadingContext): number {
  const after = (which: Priority, ms: number): number => (last.get(which) ?? -Infinity) + ms;
  const { apartMs } = paces[priority];
  if (priority === 'first' || priority === 'told') return after(priority, apartMs);
  const factor = leads ? 1 : FOLLOWER_FACTOR;
  return Math.max(after('regular', paces.regular.apartMs * factor), after('awaited', apartMs * factor));
}

/** Without a Secret, `at` is the time to look again (Infinity: after a change). */
type Reading<T> =
  { readonly read: T; readonly priority: Priority } | { readonly read?: undefined; readonly at: number };

/** Returns the Secret to read. Each priority has its pace, and in each one namespaces take turns, so none starves. */
export function planReading<T extends ReadingState>(states: readonly T[], context: ReadingContext): Reading<T> {
  let at = Infinity;
  for (const priority of order) {
    const free = freeAt(priority, context);
    let next: { read: T; turn: number; due: number } | undefined;
    // One pass without a sort: a start reads thousands of Secrets, and plans each time.
    for (const read of states) {
      if (findPriority(read, context.leads) !== priority) continue;
      const due = dueAt(read, priority);
      at = Math.min(at, Math.max(due, free));
      if (Math.max(due, free) > context.now) continue;
      const turn = context.last.get(toTurn(priority, read.namespace)) ?? -Infinity;
      if (next === undefined || (turn - next.turn || due - next.due) < 0) next = { read, turn, due };
    }
    if (next !== undefined) return { read: next.read, priority };
  }
  return { at };
}

const dueAt = ({ readAt = -Infinity, reportedAt = -Infinity, retryAt }: ReadingState, priority: Priority): number =>
  Math.max(priority === 'told' ? reportedAt : readAt + paces[priority].afterMs, retryAt);

const toTurn = (priority: Priority, namespace: string): string => `${priority}/${namespace}`;

/** Returns `last` after a read. A namespace without a turn for an hour is next anyway. */
export function afterReading(last: ReadonlyMap<string, number>, priority: Priority, namespace: string, now: number) {
  const recent = [...last].filter(([, at]) => at > now - REMEMBERED_MS);
  return new Map([...recent, [priority, now], [toTurn(priority, namespace), now]]);
}

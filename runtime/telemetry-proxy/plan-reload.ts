import { isDeepStrictEqual } from 'node:util';
import type { CollectedNamespace } from './types.ts';

export type Namespaces = readonly CollectedNamespace[];

/** Times are milliseconds by the monotonic clock. */
export interface CollectorState {
  /** Undefined: unknown, or the collector must begin again. */
  readonly running: Namespaces | undefined;
  readonly lastGood: Namespaces;
  /** The namespaces whose data is sent, now or as soon as the collector is up. */
  readonly sending: Namespaces;
  /** Failures since a wanted configuration worked, and the end of the rest that they and their fallbacks need. */
  readonly failure: { readonly inARow: number; readonly until: number };
  /** No reload starts earlier. */
  readonly restsUntil: number;
  /** No cut starts earlier. */
  readonly cutFrom: number;
}

type Step = { readonly kind: 'wait' | 'done' | 'cut' } | { readonly kind: 'reload'; readonly namespaces: Namespaces };

/** The collector's first configuration is not from this manager. */
export const untouched: CollectorState = {
  running: undefined,
  lastGood: [],
  sending: [],
  failure: { inARow: 0, until: -Infinity },
  restsUntil: 0,
  cutFrom: Infinity,
};

/** Returns the pause after failures in a row. The kubelet forgets earlier exits of a container after ten minutes. */
export const retryMs = (failures: number): number => Math.min(5_000 * 2 ** (failures - 1), 30 * 60_000);

/** With the kubelet's own pause, no reload takes longer. An interruption that does has another cause. */
const MAX_RELOAD_MS = 7 * 60_000;
/** Returns the pause after a reload, so that reloads interrupt the collector a fourth of the time at most. */
export const restMs = (tookMs: number): number => Math.min(tookMs, MAX_RELOAD_MS) * 3;

/** Returns how long the collector may need to read some namespaces. It sends five list requests a second. */
export const initialMs = (namespaces: number): number => 10_000 + namespaces * 2_000;

/** The lists of the objects that a namespace had before its collection. */
export interface Lists {
  readonly begun: number;
  /** Afterwards they are complete, unless a reload interrupts them earlier. */
  readonly until: number;
  /** The last exit of the collector, if nothing is listed any more because of its exits. */
  readonly exitedAt?: number;
}

/** By the uid of the `Lumigo` resource. */
export type ListsByUid = ReadonlyMap<string, Lists>;

const MAX_LISTS = 10;
const EXIT_COUNTS = 3;

/** Returns the namespaces whose existing objects have to be listed, if the lists under way end at `endedAt`. */
export const toList = (namespaces: Namespaces, lists: ListsByUid, endedAt: number): Namespaces =>
  namespaces.filter((each) => sendsEvents(each) && endedAt < (lists.get(each.lumigo)?.until ?? Infinity));

/** Returns the lists after a reload began some. The end of the tenth stays, so no tenant repeats them for ever. */
export function listsAfter(lists: ListsByUid, namespaces: Namespaces, listed: Namespaces, now: number): ListsByUid {
  const present = new Set(namespaces.filter(sendsEvents).map(({ lumigo }) => lumigo));
  const after = new Map([...lists].filter(([uid]) => present.has(uid)));
  for (const { lumigo } of listed) {
    const begun = (lists.get(lumigo)?.begun ?? 0) + 1;
    if (begun <= MAX_LISTS) after.set(lumigo, { begun, until: now + initialMs(listed.length) });
  }
  return after;
}

/** Lists that ended longer ago are not the cause of an exit. */
const GUILTY_MS = 3_600_000;

/** Returns the lists after the collector exited. All begin again, until three exits may be due to their objects. */
export const listsAfterExit = (lists: ListsByUid, now: number): ListsByUid =>
  new Map(
    [...lists].map(([uid, { begun, until, exitedAt = until }]) => {
      if (exitedAt + GUILTY_MS < now) return [uid, { begun: 0, until: Infinity }];
      const counted = now < until && until !== Infinity ? begun + EXIT_COUNTS : begun;
      return [uid, { begun: counted, ...(counted < MAX_LISTS ? { until: Infinity } : { until: 0, exitedAt: now }) }];
    }),
  );

/** Only pods on the network of their node need the namespaces of tokens. A reload can interrupt all senders. */
const TOKEN_NAMESPACES_MS = 10 * 60_000;

/** Returns whether tokens need a reload. `written`: their namespaces in the configuration, which is `ageMs` old. */
export const isOutdated = (written: string | undefined, present: string | undefined, ageMs: number): boolean =>
  written !== present && ageMs >= TOKEN_NAMESPACES_MS;

/** A `Lumigo` resource that was deleted and created again is another one: the collector has the former token. */
export function stillWanted(namespaces: Namespaces, wanted: Namespaces): Namespaces {
  const sent = new Map(wanted.map(({ lumigo, sends }) => [lumigo, sends]));
  return namespaces.flatMap((each) => {
    const sends = each.sends.filter((kind) => sent.get(each.lumigo)?.includes(kind));
    return sends.length === 0 ? [] : [{ ...each, sends }];
  });
}

export const sendsEvents = ({ sends }: CollectedNamespace): boolean => sends.includes('events');
const countEvents = (namespaces: Namespaces): number => namespaces.filter(sendsEvents).length;

/**
 * Returns the next step:
 * - `done`: nothing is left to do, so failures before are over.
 * - `cut`: events stop without a reload, because a namespace ended and a reload is not possible yet.
 * - `reload`: with the wanted namespaces. While a failed configuration waits for its retry, the last good one is used.
 */
export function planStep(state: CollectorState, wanted: Namespaces, now: number): Step {
  const { running, sending, restsUntil, cutFrom } = state;
  if (now < restsUntil) {
    const hasEnded = countEvents(stillWanted(sending, wanted)) < countEvents(sending);
    return { kind: hasEnded && now >= cutFrom ? 'cut' : 'wait' };
  }
  const namespaces = isPaused(state, now) ? stillWanted(state.lastGood, wanted) : wanted;
  if (!isDeepStrictEqual(running, namespaces)) return { kind: 'reload', namespaces };
  return { kind: namespaces === wanted ? 'done' : 'wait' };
}

/** Another configuration may fail for the same reason, so all wait for the retry. Only fallbacks are loaded meanwhile. */
const isPaused = ({ failure: { inARow, until } }: CollectorState, now: number): boolean =>
  now < until + retryMs(inARow);

/** Returns the end of the rest. Each further interruption makes it longer, so that they take a fourth of the time at most. */
const restEnd = ({ failure }: CollectorState, from: number, to: number): number =>
  Math.max(from, failure.until) + to - from + restMs(to - from);

/** Ends the count of failures, but not the rest. */
export const forgive = (state: CollectorState) => ({ ...state, failure: { ...state.failure, inARow: 0 } });

/** A success of the fallback does not end the pause of the configuration that failed. */
export function afterSuccess(state: CollectorState, namespaces: Namespaces, from: number, to: number): CollectorState {
  const failure = isPaused(state, from) ? { ...state.failure, until: restEnd(state, from, to) } : untouched.failure;
  return { ...state, restsUntil: to + restMs(to - from), lastGood: namespaces, failure };
}

/** A configuration that worked before and fails now is no fallback any more. No collector ran between the two times. */
export function afterFailure(state: CollectorState, namespaces: Namespaces, from: number, to: number): CollectorState {
  const { failure, lastGood } = state;
  const wasGood = isDeepStrictEqual(stillWanted(lastGood, namespaces), namespaces);
  const inARow = failure.inARow + (isPaused(state, from) ? 0 : 1);
  const until = restEnd(state, from, to);
  return { ...state, restsUntil: to, lastGood: wasGood ? [] : lastGood, failure: { inARow, until } };
}

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
  readonly failure: { readonly namespaces: Namespaces; readonly inARow: number; readonly at: number } | undefined;
  /** No reload starts earlier. */
  readonly restsUntil: number;
  /** No cut starts earlier. */
  readonly cutFrom: number;
}

type Step = { readonly kind: 'wait' | 'cut' } | { readonly kind: 'reload'; readonly namespaces: Namespaces };

/** The collector's first configuration is not from this manager. */
export const untouched: CollectorState = {
  ...{ running: undefined, lastGood: [], sending: [], failure: undefined },
  ...{ restsUntil: 0, cutFrom: Infinity },
};

const FIRST_MS = 5_000;
const MAX_MS = 5 * 60_000;
const REST_SHARE = 3;

export const retryMs = (failures: number): number => Math.min(FIRST_MS * 2 ** (failures - 1), MAX_MS);

/** Returns the pause after a reload, so that reloads interrupt the collector a fourth of the time at most. */
export const restMs = (tookMs: number): number => tookMs * REST_SHARE;

/** Returns how long the collector may need to read some namespaces. It sends five list requests a second. */
export const initialMs = (namespaces: number): number => 10_000 + namespaces * 2_000;

/** A `Lumigo` resource that was deleted and created again is another one: the collector has the former token. */
export function stillWanted(namespaces: Namespaces, wanted: Namespaces): Namespaces {
  const lumigoes = new Set(wanted.map(({ lumigo }) => lumigo));
  return namespaces.filter(({ lumigo }) => lumigoes.has(lumigo));
}

/**
 * Returns the next step:
 * - `cut`: collected data stops without a reload, because a namespace ended and a reload is not possible yet.
 * - `reload`: with the wanted namespaces. While a failed configuration waits for its retry, the last good one is used.
 */
export function planStep(state: CollectorState, wanted: Namespaces, now: number): Step {
  const { running, sending, restsUntil, cutFrom } = state;
  if (now < restsUntil) {
    const hasEnded = stillWanted(sending, wanted).length < sending.length;
    return { kind: hasEnded && now >= cutFrom ? 'cut' : 'wait' };
  }
  const namespaces = possible(state, wanted, now);
  return isDeepStrictEqual(running, namespaces) ? { kind: 'wait' } : { kind: 'reload', namespaces };
}

function possible({ lastGood, failure }: CollectorState, wanted: Namespaces, now: number): Namespaces {
  const isPaused = failure !== undefined && now < failure.at + retryMs(failure.inARow);
  if (!isPaused || !isDeepStrictEqual(failure.namespaces, wanted)) return wanted;
  const fallback = stillWanted(lastGood, wanted);
  return isDeepStrictEqual(fallback, wanted) ? [] : fallback;
}

/** A configuration that worked before and fails now is no fallback any more. */
export function afterFailure(state: CollectorState, namespaces: Namespaces, at: number): CollectorState {
  const { failure, lastGood } = state;
  const inARow = failure !== undefined && isDeepStrictEqual(failure.namespaces, namespaces) ? failure.inARow + 1 : 1;
  const isLastGood = isDeepStrictEqual(lastGood, namespaces);
  return { ...state, lastGood: isLastGood ? [] : lastGood, failure: { namespaces, inARow, at } };
}

import { isDeepStrictEqual } from 'node:util';
import type { CollectedNamespace } from './types.ts';

/** The namespaces that a collector collects from. Without one it only forwards. */
export type Namespaces = readonly CollectedNamespace[];

/** The facts about a collector that decide what is done next. Times are milliseconds by the monotonic clock. */
export interface CollectorState {
  /** The namespaces of the process. Undefined: they are unknown, or it must begin again. */
  readonly running: Namespaces | undefined;
  /** The last configuration that it took. */
  readonly lastGood: Namespaces;
  /** The namespaces whose data it sends, now or as soon as it is up. */
  readonly sending: Namespaces;
  readonly failure: { readonly namespaces: Namespaces; readonly inARow: number; readonly at: number } | undefined;
  /** It is not reloaded before. */
  readonly restsUntil: number;
  /** Its collected data is not cut off before. */
  readonly cutFrom: number;
}

type Step = { readonly kind: 'wait' | 'cut' } | { readonly kind: 'reload'; readonly namespaces: Namespaces };

/** The collector did not start by a configuration of this manager. */
export const untouched: CollectorState = {
  ...{ running: undefined, lastGood: [], sending: [], failure: undefined },
  ...{ restsUntil: 0, cutFrom: Infinity },
};

const FIRST_MS = 5_000;
const MAX_MS = 5 * 60_000;
const REST_SHARE = 3;

/** Returns the delay after so many failures in a row, in milliseconds. */
export const retryMs = (failures: number): number => Math.min(FIRST_MS * 2 ** (failures - 1), MAX_MS);

/**
 * Returns how long the collector is not reloaded after a reload. So it is interrupted for a fourth of the time at most, however fast users
 * change their `Lumigo` resources. Programs can send between two reloads.
 */
export const restMs = (tookMs: number): number => tookMs * REST_SHARE;

/** Returns how long the collector may need to read some namespaces, in milliseconds. It asks for five lists a second. */
export const initialMs = (namespaces: number): number => 10_000 + namespaces * 2_000;

/**
 * Returns the namespaces that are still wanted. A `Lumigo` resource that was deleted and created again is another one: the
 * collector has the former one's token.
 */
export function stillWanted(namespaces: Namespaces, wanted: Namespaces): Namespaces {
  const lumigoes = new Set(wanted.map(({ lumigo }) => lumigo));
  return namespaces.filter(({ lumigo }) => lumigoes.has(lumigo));
}

/**
 * Returns what to do with the collector now:
 * - `cut`: it sends data of a namespace whose collection ended, and cannot be reloaded yet. All collected data stops without a reload.
 * - `reload`: with what is wanted. A configuration that failed is retried after a delay that grows. Until then the collector continues
 *   with the last one that worked, without the namespaces that ended.
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

/** Returns the state after a reload that failed. A configuration that worked before and fails now is no fallback any more. */
export function afterFailure(state: CollectorState, namespaces: Namespaces, at: number): CollectorState {
  const { failure, lastGood } = state;
  const inARow = failure !== undefined && isDeepStrictEqual(failure.namespaces, namespaces) ? failure.inARow + 1 : 1;
  const isLastGood = isDeepStrictEqual(lastGood, namespaces);
  return { ...state, lastGood: isLastGood ? [] : lastGood, failure: { namespaces, inARow, at } };
}

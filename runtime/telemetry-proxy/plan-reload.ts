import type { CollectedNamespace } from './types.ts';

/** A configuration for the collector. Without a namespace it only forwards. */
export interface Assignment {
  readonly namespaces: readonly CollectedNamespace[];
  /** Grows when the watches must begin again. */
  readonly renewals: number;
}

interface Failure {
  readonly assignment: string;
  /** The number of failures in a row. */
  readonly count: number;
  /** By the monotonic clock, in milliseconds. */
  readonly at: number;
}

/** The facts about a collector that decide what is done next. Times are milliseconds by the monotonic clock. */
export interface CollectorState {
  /** The assignment that the process has, as text; undefined: unknown. */
  readonly running: string | undefined;
  /** The last assignment that it took. */
  readonly lastGood: Assignment;
  /** The assignment whose collected data it sends, now or as soon as it is up. */
  readonly sending: Assignment;
  readonly failure: Failure | undefined;
  /** It is not reloaded before. */
  readonly restsUntil: number;
  /** Its collected data is not cut off before. */
  readonly cutFrom: number;
}

export type Step = { readonly kind: 'wait' | 'cut' } | { readonly kind: 'reload'; readonly assignment: Assignment };

export const nothing: Assignment = { namespaces: [], renewals: 0 };

/** The collector did not start by an assignment of this manager. */
export const untouched: CollectorState = {
  ...{ running: undefined, lastGood: nothing, sending: nothing, failure: undefined },
  ...{ restsUntil: 0, cutFrom: Infinity },
};

/** Between two assignments with the same text no reload is needed. */
export const textOf = (assignment: Assignment): string =>
  assignment.namespaces.length === 0 ? 'forward' : JSON.stringify(assignment);

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
 * Returns the part of an assignment that is still wanted. A `Lumigo` resource that was deleted and created again is another one: the
 * collector has the former one's token.
 */
export function stillWanted(assignment: Assignment, wanted: Assignment): Assignment {
  const lumigoes = new Set(wanted.namespaces.map(({ lumigo }) => lumigo));
  return { ...assignment, namespaces: assignment.namespaces.filter(({ lumigo }) => lumigoes.has(lumigo)) };
}

/**
 * Returns what to do with the collector now:
 * - `cut`: it sends data of a namespace whose collection ended, and cannot be reloaded yet. All collected data stops without a reload.
 * - `reload`: with what is wanted. An assignment that failed is retried after a delay that grows. Until then the collector continues
 *   with the last one that worked, without the namespaces that ended.
 */
export function planStep(state: CollectorState, wanted: Assignment, now: number): Step {
  const { running, sending, restsUntil, cutFrom } = state;
  if (now < restsUntil) {
    const hasEnded = stillWanted(sending, wanted).namespaces.length < sending.namespaces.length;
    return { kind: hasEnded && now >= cutFrom ? 'cut' : 'wait' };
  }
  const assignment = assignmentFor(state, wanted, now);
  return running === textOf(assignment) ? { kind: 'wait' } : { kind: 'reload', assignment };
}

function assignmentFor({ lastGood, failure }: CollectorState, wanted: Assignment, now: number): Assignment {
  const isFailed = failure?.assignment === textOf(wanted) && now < failure.at + retryMs(failure.count);
  if (!isFailed) return wanted;
  const fallback = stillWanted(lastGood, wanted);
  return textOf(fallback) === textOf(wanted) ? nothing : fallback;
}

/** Returns the state after a reload that failed. An assignment that worked before and fails now is no fallback any more. */
export function afterFailure(state: CollectorState, assignment: Assignment, at: number): CollectorState {
  const text = textOf(assignment);
  const count = state.failure?.assignment === text ? state.failure.count + 1 : 1;
  const lastGood = textOf(state.lastGood) === text ? nothing : state.lastGood;
  return { ...state, lastGood, failure: { assignment: text, count, at } };
}

import type { CollectedNamespace } from './types.ts';

/** What the collector should do, or does: which namespaces it collects with which tokens; undefined: it only forwards. */
export interface Collection {
  readonly namespaces: readonly CollectedNamespace[];
  /** Grows when the watches should be begun anew. */
  readonly renewals: number;
}

export interface Failure {
  readonly collection: string;
  /** How often in a row. */
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly at: number;
}

interface ReloadInput {
  readonly wanted: Collection | undefined;
  /** What the running process does, as text; undefined: nobody knows. */
  readonly running: string | undefined;
  /** The last collection that it was seen to take up. */
  readonly lastGood: Collection | undefined;
  readonly failure: Failure | undefined;
  /** Until when it is left alone, in milliseconds since 1970. */
  readonly restsUntil: number;
  readonly now: number;
}

/** Two collections that are the same text need no reload between them. */
export const textOf = (collection: Collection | undefined): string =>
  collection === undefined || collection.namespaces.length === 0 ? 'forward' : JSON.stringify(collection);

const FIRST_MS = 5_000;
const MOST_MS = 5 * 60_000;

/** Whether collecting a namespace is over: nobody's data is sent for longer because others' programs rest. */
function ends(before: Collection | undefined, after: Collection | undefined): boolean {
  const names = new Set(after?.namespaces.map(({ name }) => name));
  return before?.namespaces.some(({ name }) => !names.has(name)) === true;
}

const REST_SHARE = 3;
const LONGEST_REST_MS = 10_000;

/**
 * How long the collector is left alone after a reload. However often namespaces come, it is interrupted for a fourth of the time at most, and
 * what a program could not send meanwhile it can send before the next reload.
 */
export const restMs = (tookMs: number): number => Math.min(tookMs * REST_SHARE, LONGEST_REST_MS);

export const retryMs = (failures: number): number => Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS);

/**
 * What to reload the collector with, if anything. A collection that it did not take up is tried again after a while that grows;
 * until then it goes on with the last one that it did.
 */
export function planReload({
  wanted,
  running,
  lastGood,
  failure,
  restsUntil,
  now,
}: ReloadInput): { collection: Collection | undefined } | undefined {
  if (now < restsUntil && !ends(lastGood, wanted)) return undefined;
  const failed = failure?.collection === textOf(wanted) && now < failure.at + retryMs(failure.count);
  const fallback = textOf(lastGood) === textOf(wanted) ? undefined : lastGood;
  const collection = failed ? fallback : wanted;
  return running === textOf(collection) ? undefined : { collection };
}

/** How long reading everything of some namespaces may take: the collector asks for five lists a second. */
export const initialMs = (namespaces: number): number => 10_000 + namespaces * 2_000;

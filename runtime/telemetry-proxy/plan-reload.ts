import type { CollectedNamespace } from './types.ts';

/** What the collector should do, or does: which namespaces it collects with which tokens; undefined: it only forwards. */
export interface Assignment {
  readonly namespaces: readonly CollectedNamespace[];
  /** Grows when the watches should be begun anew. */
  readonly renewals: number;
}

export interface Failure {
  readonly assignment: string;
  /** How often in a row. */
  readonly count: number;
  /** By the monotonic clock, in milliseconds. */
  readonly at: number;
}

interface ReloadInput {
  readonly wanted: Assignment | undefined;
  /** What the running process does, as text; undefined: nobody knows. */
  readonly running: string | undefined;
  /** The last assignment that it was seen to take up. */
  readonly lastGood: Assignment | undefined;
  readonly failure: Failure | undefined;
  /** Until when it is left alone, by the monotonic clock in milliseconds. */
  readonly restsUntil: number;
  readonly now: number;
}

/** Two assignments that are the same text need no reload between them. */
export const textOf = (assignment: Assignment | undefined): string =>
  assignment === undefined || assignment.namespaces.length === 0 ? 'forward' : JSON.stringify(assignment);

const FIRST_MS = 5_000;
const MOST_MS = 5 * 60_000;

/** Whether collecting a namespace is over: nobody's data is sent for longer because others' programs rest. */
function ends(before: Assignment | undefined, after: Assignment | undefined): boolean {
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

/** How long after so many failures in a row, in milliseconds. */
export const retryMs = (failures: number): number => Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS);

/**
 * What to reload the collector with, if anything. A assignment that it did not take up is tried again after a while that grows;
 * until then it goes on with the last one that it did.
 */
export function planReload({
  wanted,
  running,
  lastGood,
  failure,
  restsUntil,
  now,
}: ReloadInput): { assignment: Assignment | undefined } | undefined {
  if (now < restsUntil && !ends(lastGood, wanted)) return undefined;
  const failed = failure?.assignment === textOf(wanted) && now < failure.at + retryMs(failure.count);
  const fallback = textOf(lastGood) === textOf(wanted) ? undefined : lastGood;
  const assignment = failed ? fallback : wanted;
  return running === textOf(assignment) ? undefined : { assignment };
}

/** How long reading everything of some namespaces may take: the collector asks for five lists a second. */
export const initialMs = (namespaces: number): number => 10_000 + namespaces * 2_000;

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
  /** Until when it is not reloaded, by the monotonic clock in milliseconds. */
  readonly restsUntil: number;
  readonly now: number;
}

/** Two assignments that are the same text need no reload between them. */
export const textOf = (assignment: Assignment | undefined): string =>
  assignment === undefined || assignment.namespaces.length === 0 ? 'forward' : JSON.stringify(assignment);

const FIRST_MS = 5_000;
const MOST_MS = 5 * 60_000;

/**
 * Returns the part of an assignment that is wanted still. A `Lumigo` resource that was deleted and created again is another one: the
 * collector has the former one's token.
 */
export function stillWanted(
  assignment: Assignment | undefined,
  wanted: Assignment | undefined,
): Assignment | undefined {
  const lumigoes = new Set(wanted?.namespaces.map(({ lumigo }) => lumigo));
  return (
    assignment && { ...assignment, namespaces: assignment.namespaces.filter(({ lumigo }) => lumigoes.has(lumigo)) }
  );
}

const REST_SHARE = 3;

/**
 * Returns how long the collector is not reloaded after a reload. However fast users change their `Lumigo` resources, it is interrupted for
 * a fourth of the time at most, and a program can send before the next reload what it could not send during the last one. If
 * collecting a namespace ends meanwhile, `Reloader.cutOff` acts.
 */
export const restMs = (tookMs: number): number => tookMs * REST_SHARE;

/** How long after so many failures in a row, in milliseconds. */
export const retryMs = (failures: number): number => Math.min(FIRST_MS * 2 ** (failures - 1), MOST_MS);

/**
 * Returns the assignment to reload the collector with; undefined: no reload is due. An assignment that failed is retried after a
 * delay that grows. Until then the collector continues with the last one that worked, without the namespaces that ended.
 */
export function planReload({
  wanted,
  running,
  lastGood,
  failure,
  restsUntil,
  now,
}: ReloadInput): { assignment: Assignment | undefined } | undefined {
  if (now < restsUntil) return undefined;
  const failed = failure?.assignment === textOf(wanted) && now < failure.at + retryMs(failure.count);
  const fallback = stillWanted(lastGood, wanted);
  const assignment = failed ? (textOf(fallback) === textOf(wanted) ? undefined : fallback) : wanted;
  return running === textOf(assignment) ? undefined : { assignment };
}

/** How long reading everything of some namespaces may take: the collector asks for five lists a second. */
export const initialMs = (namespaces: number): number => 10_000 + namespaces * 2_000;

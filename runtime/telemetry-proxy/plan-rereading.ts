/** For so long a token that was replaced in its Secret is still let in: pods that run took theirs when they started. */
export const TRANSITION_MS = 60 * 60_000;

/** The API server is asked for at most two Secrets a second, and for each at most every four seconds. */
export const rereadMs = (sources: number): number => Math.min(Math.max(4_000, sources * 500), 60_000);

/** A Secret that is replaced, as Pulumi does with one whose content changes, is away for less than this. */
export const REPLACEMENT_MS = 1_000;

const FIRST_MS = 1_000;
const LONGEST_MS = 5 * 60_000;

/** How long to wait after `failures` failures in a row: 1 s, doubling, at most 5 minutes; `jitter` in [0, 1) spreads the crowd by a fifth. */
export function backoffMs(failures: number, jitter: number): number {
  const plain = Math.min(FIRST_MS * 2 ** Math.max(0, failures - 1), LONGEST_MS);
  return Math.round(plain * (0.9 + 0.2 * jitter));
}

export type Random = ReturnType<typeof createRandom>;

/** Mulberry32: small, and good enough for random times. The same seed gives the same numbers. */
export function createRandom(seed: number) {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    between: (low: number, high: number): number => low + Math.floor(next() * (high - low + 1)),
    chance: (share: number): boolean => next() < share,
  };
}

/** Returns LUMIGO_FAULT_SEED, or a new number each time. @throws Error if it is no whole number */
export function getSeed({ LUMIGO_FAULT_SEED: given = String(Date.now() % 1_000_000) }: NodeJS.ProcessEnv): number {
  if (!/^\d{1,9}$/.test(given))
    throw new Error(`LUMIGO_FAULT_SEED=${given} must be a whole number of at most nine digits`);
  return Number(given);
}

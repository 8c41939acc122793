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

/**
 * How long each property of a `*.fuzz.test.ts` is tried: some hundred times with every run of the unit tests, by
 * `npm run test:fuzz` for LUMIGO_FUZZ_SECONDS (default: a minute). LUMIGO_FUZZ_SEED makes the same choices again.
 */
const seconds = Number(process.env['LUMIGO_FUZZ_SECONDS'] ?? 0);
const seed = Number(process.env['LUMIGO_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

if (seconds > 0) process.stderr.write(`LUMIGO_FUZZ_SEED=${seed} makes the same choices again\n`);

/** The parameters of `fc.assert`; a failure says the seed as well. */
export const fuzz = {
  seed,
  ...(seconds === 0 ? { numRuns: 300 } : { numRuns: 1e9, interruptAfterTimeLimit: seconds * 1_000 }),
} as const;

/** For what takes seconds each time: so long at least, by seeds that count up from `seed`, so that any of them can be repeated by itself. */
export async function fuzzBySeed(shortSeconds: number, attempt: (seed: number) => Promise<void>): Promise<void> {
  const end = Date.now() + (seconds || shortSeconds) * 1_000;
  for (let each = seed; each === seed || Date.now() < end; each += 1) await attempt(each);
}

/** For a test that holds one such property. */
export const fuzzTimeoutMs = seconds * 1_000 + 120_000;

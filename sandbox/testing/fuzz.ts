/** Each property of a `*.fuzz.test.ts` runs 300 times, or for LUMIGO_FUZZ_SECONDS. LUMIGO_FUZZ_SEED repeats the choices. */
const seconds = Number(process.env['LUMIGO_FUZZ_SECONDS'] ?? 0);
const seed = Number(process.env['LUMIGO_FUZZ_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

if (seconds > 0) process.stderr.write(`LUMIGO_FUZZ_SEED=${seed} makes the same choices again\n`);

export const fuzz = {
  seed,
  ...(seconds === 0 ? { numRuns: 300 } : { numRuns: 1e9, interruptAfterTimeLimit: seconds * 1_000 }),
} as const;

/** Repeats an attempt that takes seconds. Seeds count up from `seed`, so each attempt can be repeated alone. */
export async function fuzzBySeed(shortSeconds: number, attempt: (seed: number) => Promise<void>): Promise<void> {
  const end = Date.now() + (seconds || shortSeconds) * 1_000;
  for (let each = seed; each === seed || Date.now() < end; each += 1) await attempt(each);
}

export const fuzzTimeoutMs = seconds * 1_000 + 300_000;

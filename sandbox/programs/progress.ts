/** Says what is going on, for whoever waits. */
export type Progress = (line: string) => void;

const EVERY_MS = 10_000;

/** Does a long step, and says every ten seconds that it lives. Returns what the step returns. */
export async function alive<T>(progress: Progress, line: (seconds: number) => string, step: () => Promise<T>) {
  const seconds = stopwatch();
  const ticker = setInterval(() => progress(line(seconds())), EVERY_MS);
  try {
    return await step();
  } finally {
    clearInterval(ticker);
  }
}

/** Whole seconds since now. */
export function stopwatch(): () => number {
  const started = Date.now();
  return () => Math.round((Date.now() - started) / 1_000);
}

export type Progress = (line: string) => void;

const EVERY_MS = 10_000;

export async function alive<T>(progress: Progress, line: (seconds: number) => string, step: () => Promise<T>) {
  const seconds = stopwatch();
  const ticker = setInterval(() => progress(line(seconds())), EVERY_MS);
  try {
    return await step();
  } finally {
    clearInterval(ticker);
  }
}

export function stopwatch(): () => number {
  const started = Date.now();
  return () => Math.round((Date.now() - started) / 1_000);
}

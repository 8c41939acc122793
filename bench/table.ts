import { markdownTable } from '../infra/settings/markdown-table.ts';

export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
  /** The target: at most this. */
  readonly target?: number;
  readonly count?: number;
}

export const countSeconds = async (action: () => Promise<unknown>): Promise<number> => (await timed(action)) / 1_000;

/** Returns milliseconds. */
export async function timed(action: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await action();
  return performance.now() - started;
}

/** Returns the figures as a table of Markdown. No figure fails. */
export const render = (figures: readonly Figure[]): string =>
  markdownTable(
    ['figure', 'measured', 'at most'],
    figures.map(({ name, value, unit, target, count }) => [
      count === undefined ? name : `${name}, ${count} Deployments`,
      `${format(value)} ${unit}`,
      target === undefined ? '' : `${format(target)} ${unit}`,
    ]),
  );

function format(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

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

/** Returns the figures as a table for the terminal. No figure fails. */
export function render(figures: readonly Figure[]): string {
  const rows = figures.map(({ name, value, unit, target, count }) => [
    count === undefined ? name : `${name}, ${count} Deployments`,
    `${format(value)} ${unit}`,
    target === undefined ? '' : `≤ ${format(target)} ${unit}`,
  ]);
  const heads = ['figure', 'measured', 'target'];
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
  return [line(heads), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n');
}

function format(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return value.toFixed(Math.abs(value) >= 10 ? 1 : 2);
}

import { printable } from '../wording/printable.ts';

export type Tone = 'good' | 'bad' | 'unsure' | 'plain';

export interface Cell {
  readonly text: string;
  readonly tone?: Tone;
}

export type Paint = (tone: Tone, text: string) => string;

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly (string | Cell)[])[];
}

/** Text of other programs or users cannot control the terminal. */
export function renderTable({ header, rows }: Table, paint: Paint): string {
  const cells = [header, ...rows].map((row) => row.map(toCell));
  const widths = header.map((_, column) => Math.max(...cells.map((row) => row[column]?.text.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map(({ text, tone = 'plain' }, column) => {
          const isLast = column === row.length - 1;
          return paint(tone, text) + (isLast ? '' : ' '.repeat((widths[column] ?? 0) - text.length + 2));
        })
        .join('')
        .trimEnd(),
    )
    .join('\n');
}

const toCell = (cell: string | Cell): Cell => {
  const { text, tone } = typeof cell === 'string' ? { text: cell, tone: undefined } : cell;
  return { text: printable(text).replaceAll('\n', ' '), ...(tone === undefined ? {} : { tone }) };
};

export type Tone = 'good' | 'bad' | 'unsure' | 'plain';

export type Paint = (tone: Tone, text: string) => string;

interface Cell {
  readonly text: string;
  readonly tone: Tone;
}

/** The first row is the header. */
export function renderTable(rows: readonly (readonly (string | Cell)[])[], paint: Paint): string {
  const cells = rows.map((row) => row.map(toCell));
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.text.length ?? 0))) ?? [];
  const lines = cells.map((row) =>
    row.map(({ text, tone }, column) => paint(tone, text) + ' '.repeat((widths[column] ?? 0) - text.length + 2)),
  );
  return lines.map((line) => line.join('').trimEnd()).join('\n');
}

function toCell(cell: string | Cell): Cell {
  const { text, tone } = typeof cell === 'string' ? { text: cell, tone: 'plain' as const } : cell;
  return { text: text.replaceAll('\n', ' '), tone };
}

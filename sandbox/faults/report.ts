import { faultsOf, type Verdict } from './scenario.ts';

const columns: readonly (readonly [head: string, of: (verdict: Verdict) => string | number])[] = [
  ['fault', ({ name }) => name],
  ['lost', ({ lost }) => lost],
  ['duplicate', ({ toldTwice }) => toldTwice],
  ['unreported', ({ untold }) => untold],
  ['restarted', ({ restarted }) => restarted],
  ['stuck', ({ stuck }) => stuck],
  ['broken', ({ broken }) => broken.length],
  ['warnings', ({ warnings }) => warnings],
  ['requests', ({ requests }) => requests],
  ['seconds', ({ seconds }) => seconds],
  ['', (verdict) => (faultsOf(verdict) === 0 ? 'holds' : 'FAILS')],
];

/** The verdicts as a table for the terminal. */
export function renderVerdicts(verdicts: readonly Verdict[]): string {
  const rows = [columns.map(([head]) => head), ...verdicts.map((each) => columns.map(([, of]) => String(of(each))))];
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

const words = { lost: 'lost', toldTwice: 'duplicate', untold: 'unreported', restarted: 'restarted', stuck: 'stuck' };
const counts = Object.keys(words) as (keyof typeof words)[];

/** What a verdict comes to in one cell of docs/contributing/reliability.md. */
export function summaryOf(verdict: Verdict): string {
  const counted = counts.filter((each) => verdict[each] > 0).map((each) => `${words[each]} ${verdict[each]}`);
  const said = [counted.join(', '), ...verdict.broken].filter((part) => part !== '');
  return said.length === 0 ? 'holds' : said.join('; ');
}

/** The rows of the table there. */
export const renderRows = (verdicts: readonly Verdict[]): string =>
  verdicts.map((each) => `| ${each.name} | ${each.requests} | ${summaryOf(each)} |\n`).join('');

/** What is wrong in one verdict, and what was measured, for whoever wants to know more than numbers. */
export const renderDetails = ({ name, seed, broken, details, figures }: Verdict): string =>
  [
    `${name} (seed ${seed})`,
    ...broken.map((what) => `  broken: ${what}`),
    ...details.map((what) => `  ${what}`),
    ...Object.entries(figures).map(([what, value]) => `  ${what}: ${value}`),
  ].join('\n');

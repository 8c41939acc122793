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

const row = (cells: readonly (string | number)[]): string => `| ${cells.join(' | ')} |\n`;

/** The verdicts as a table. */
export const renderVerdicts = (verdicts: readonly Verdict[]): string =>
  [
    ...[row(columns.map(([head]) => head)), row(columns.map(() => '---'))],
    ...verdicts.map((verdict) => row(columns.map(([, of]) => of(verdict)))),
  ].join('');

/** What is wrong in one verdict, and what was measured, for whoever wants to know more than numbers. */
export const renderDetails = ({ name, seed, broken, details, figures }: Verdict): string =>
  [
    `${name} (seed ${seed})`,
    ...broken.map((what) => `  broken: ${what}`),
    ...details.map((what) => `  ${what}`),
    ...Object.entries(figures).map(([what, value]) => `  ${what}: ${value}`),
  ].join('\n');

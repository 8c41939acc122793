import { markdownTable } from '../settings/markdown-table.ts';
import { originalValues, type OriginalValue } from '../settings/original-values.ts';

export const migrationTable = (): string =>
  markdownTable(
    ['Value of the original', 'Here', 'Advice'],
    originalValues.map((row) => [`\`${row.path}\``, ...getOutcome(row)]),
  );

function getOutcome(row: OriginalValue): readonly [string, string] {
  if ('warned' in row) return ['has no effect', row.warned];
  if ('refused' in row) return [`refused if it is ${row.refused.split(', ')[0]}`, row.refused.split('. ')[1] ?? ''];
  return ['works', row.as === undefined ? (row.note ?? '') : `the name here is \`${row.as}\``];
}

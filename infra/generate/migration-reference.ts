import { originalValues, type OriginalValue } from '../settings/original-values.ts';

/** The table of docs/migrate-from-original.md: what becomes of each value of the original operator's chart. */
export const migrationTable = (): string =>
  [
    '| value of the original | here | what to do |',
    '| --- | --- | --- |',
    ...originalValues.map((row) => `| \`${row.path}\` | ${outcomeOf(row).join(' | ')} |`),
  ].join('\n');

function outcomeOf(row: OriginalValue): readonly [string, string] {
  if ('warned' in row) return ['does nothing', row.warned];
  if ('refused' in row)
    return [`refused where it is ${row.refused.split(/[,;]/)[0]}`, row.refused.split('; ')[1] ?? ''];
  return ['acts', row.as === undefined ? (row.note ?? '') : `it is \`${row.as}\` here`];
}

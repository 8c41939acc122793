import { originalValues } from '../settings/original-values.ts';
import { fail, given, quoted, when } from './go-template.ts';

/** What a value is, whether or not anything is there; `$given` has the values. */
const valueAt = (path: string): string => `(dig ${path.split('.').map(quoted).join(' ')} "" $given)`;

/** End the rendering where a value of the original operator's chart says what cannot be. */
export const originalRefusals: readonly string[] = originalValues.flatMap((row) =>
  'refused' in row
    ? [
        when(
          `regexMatch ${quoted(row.when)} (toString ${valueAt(row.path)})`,
          fail(`${row.path} is "%v", ${row.refused}`, valueAt(row.path)),
        ),
      ]
    : [],
);

/** Part of the notes: one warning for all values of the original's that do nothing here. */
export const originalWarning = [
  given,
  '{{- $idle := list -}}',
  ...originalValues.flatMap((row) =>
    'warned' in row
      ? [
          `{{- if ${valueAt(row.path)} -}}`,
          `{{- $idle = append $idle ${quoted(`${row.path}: ${row.warned}`)} -}}`,
          '{{- end -}}',
        ]
      : [],
  ),
  '{{- if $idle }}',
  '! These values are of the original operator, and do nothing here (docs/migrate-from-original.md):',
  '{{- range $idle }}',
  '    {{ . }}',
  '{{- end }}',
  '{{- end }}',
].join('\n');

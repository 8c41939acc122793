import { originalValues } from '../settings/original-values.ts';
import { fail, given, quoted, when } from './go-template.ts';

export const valueAt = (path: string): string => `(dig ${path.split('.').map(quoted).join(' ')} "" $given)`;

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
  '! These values of the original operator have no effect (docs/migrate-from-original.md):',
  '{{- range $idle }}',
  '    {{ . }}',
  '{{- end }}',
  '{{- end }}',
].join('\n');

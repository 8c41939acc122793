import { originalValues } from '../settings/original-values.ts';

/** A text in Go's template language. */
const quoted = (text: string): string => JSON.stringify(text);

/** What a value is, whether or not anything is there; `$given` has the values. */
const valueAt = (path: string): string => `(dig ${path.split('.').map(quoted).join(' ')} "" $given)`;

/** `dig` takes plain maps alone. */
const given = '{{- $given := toJson $.Values | fromJson -}}';

/** Ends the rendering where a value of the original operator's chart says what cannot be. Every template includes it. */
export const refusals = [
  '{{- define "lumigo-operator.refuse" -}}',
  given,
  ...originalValues.flatMap((row) =>
    'refused' in row
      ? [
          `{{- if regexMatch ${quoted(row.when)} (toString ${valueAt(row.path)}) -}}`,
          `{{- fail (printf ${quoted(`${row.path} is "%v", ${row.refused}`)} ${valueAt(row.path)}) -}}`,
          '{{- end -}}',
        ]
      : [],
  ),
  '{{- end -}}',
  '',
].join('\n');

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
  '! These values are of the original operator, and do nothing here (docs/migration.md):',
  '{{- range $idle }}',
  '    {{ . }}',
  '{{- end }}',
  '{{- end }}',
].join('\n');

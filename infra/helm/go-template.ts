/** A text in Go's template language. */
export const quoted = (text: string): string => JSON.stringify(text);

/** Ends the rendering with a sentence whose `%v` are these expressions. */
export const fail = (sentence: string, ...values: readonly string[]): string =>
  `{{- fail (printf ${[quoted(sentence), ...values].join(' ')}) -}}`;

export const when = (condition: string, then: string): string => `{{- if ${condition} -}}${then}{{- end -}}`;

/** @param loop what `range` takes: names of variables, and a list or a map */
export const each = (loop: string, body: string): string => `{{- range ${loop} -}}${body}{{- end -}}`;

/** The values as `$given`: `dig` and `has` take plain maps and lists alone. */
export const given = '{{- $given := toJson $.Values | fromJson -}}';

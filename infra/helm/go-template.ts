export const quoted = (text: string): string => JSON.stringify(text);

/** Returns a template that stops the rendering with a sentence. The expressions replace its `%v`. */
export const fail = (sentence: string, ...values: readonly string[]): string =>
  `{{- fail (printf ${[quoted(sentence), ...values].join(' ')}) -}}`;

export const when = (condition: string, then: string): string => `{{- if ${condition} -}}${then}{{- end -}}`;

export const each = (loop: string, body: string): string => `{{- range ${loop} -}}${body}{{- end -}}`;

/** Copies the values to `$given`, because `dig` and `has` accept only plain maps and lists. */
export const given = '{{- $given := toJson $.Values | fromJson -}}';

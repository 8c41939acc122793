/** A text in Go's template language. */
export const quoted = (text: string): string => JSON.stringify(text);

/** The values as `$given`: `dig` and `has` take plain maps and lists alone. */
export const given = '{{- $given := toJson $.Values | fromJson -}}';

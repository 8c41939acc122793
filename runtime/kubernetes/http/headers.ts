/**
 * The texts of `Warning: 299 - "…"` headers, in which the API server passes on deprecations and admission webhooks'
 * warnings (RFC 7234 §5.5: inside the quotes, `\` escapes a character). Other codes are caches' and proxies' remarks.
 */
export function parseWarnings(headers: readonly string[]): string[] {
  return headers.flatMap((header) =>
    [...header.matchAll(/(?:^|[,\s])299 \S+ "((?:[^"\\]|\\.)*)"/g)].map((match) =>
      (match[1] ?? '').replace(/\\(.)/g, '$1'),
    ),
  );
}

/** Retry-After in seconds. The API server writes a number; a proxy may write a date. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d+$/.test(header.trim())) return Number(header);
  const date = Date.parse(header);
  return Number.isNaN(date) ? undefined : Math.max(0, (date - now) / 1000);
}

import { printable } from '../wording/printable.ts';
import { withoutTokens } from '../wording/token.ts';

type Format = 'table' | 'json' | 'yaml';

export interface OutputFlags {
  readonly namespace?: string;
  readonly output: Format;
}

/** A user may have written a token or any characters in place of a name. YAML may break a long text within a token. */
export async function formatted<T>(format: Format, result: T, asTable: (result: T) => string): Promise<string> {
  const safe = JSON.parse(withoutTokens(JSON.stringify(result)), (_key, value: unknown) =>
    typeof value === 'string' ? printable(value) : value,
  ) as T;
  if (format === 'table') return asTable(safe);
  if (format === 'json') return printable(JSON.stringify(safe, undefined, 2));
  const { toYaml } = await import('./yaml.ts');
  return printable(toYaml(safe));
}

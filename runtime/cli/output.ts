import { withoutTokens } from '../wording/token.ts';

type Format = 'table' | 'json' | 'yaml';

export interface OutputFlags {
  readonly namespace?: string;
  readonly output: Format;
}

/** A user may have written a token in place of a name, which results quote. YAML may break a long text within a token. */
export async function formatted<T>(format: Format, result: T, asTable: (result: T) => string): Promise<string> {
  const safe = JSON.parse(withoutTokens(JSON.stringify(result))) as T;
  if (format === 'table') return asTable(safe);
  if (format === 'json') return JSON.stringify(safe, undefined, 2);
  const { toYaml } = await import('./yaml.ts');
  return toYaml(safe);
}

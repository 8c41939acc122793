import { withoutTokens } from '../wording/token.ts';

type Format = 'table' | 'json' | 'yaml';

export interface OutputFlags {
  readonly namespace?: string;
  readonly output: Format;
}

/** A user may have written a token in place of a name, which results quote. */
export const formatted = async <T>(format: Format, result: T, asTable: (result: T) => string): Promise<string> =>
  withoutTokens(await toText(format, result, asTable));

async function toText<T>(format: Format, result: T, asTable: (result: T) => string): Promise<string> {
  if (format === 'table') return asTable(result);
  if (format === 'json') return JSON.stringify(result, undefined, 2);
  const { toYaml } = await import('./yaml.ts');
  return toYaml(result);
}

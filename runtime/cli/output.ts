/** The value of `-o`. */
export type Format = 'table' | 'json' | 'yaml';

/** Returns a result in the format that was asked for. The program can read JSON and YAML back. */
export async function formatted<T>(format: Format, result: T, asTable: (result: T) => string): Promise<string> {
  if (format === 'table') return asTable(result);
  if (format === 'json') return JSON.stringify(result, undefined, 2);
  const { toYaml } = await import('./yaml.ts');
  return toYaml(result);
}

export type Format = 'table' | 'json' | 'yaml';

export async function formatted<T>(format: Format, result: T, asTable: (result: T) => string): Promise<string> {
  if (format === 'table') return asTable(result);
  if (format === 'json') return JSON.stringify(result, undefined, 2);
  const { toYaml } = await import('./yaml.ts');
  return toYaml(result);
}

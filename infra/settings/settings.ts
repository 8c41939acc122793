import { readFileSync } from 'node:fs';
import { parse, YAMLParseError } from 'yaml';
import { isPlainObject } from '../../runtime/json/values.ts';
import { crossFieldProblems } from './cross-field-rules.ts';
import { allNamespaces } from './monitored.ts';
import { getRefusals, getWarnings, withoutOriginal } from './original-values.ts';
import { getProblems } from './problems.ts';
import { settingsSchema, type Settings } from './schema.ts';
import { withoutTokens } from '../../runtime/wording/token.ts';

export type { Settings } from './schema.ts';

/** The path of the settings file. It is a variable, because `cdk8s synth` does not pass arguments on. */
export const settingsVariable = 'LUMIGO_SETTINGS';

/** The settings cannot be installed. The message has all problems, one per line. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
  constructor(
    readonly problems: readonly string[],
    source: string,
  ) {
    super([`${source} cannot be used:`, ...problems.map((problem) => `  - ${withoutTokens(problem)}`)].join('\n'));
  }
}

/**
 * Adds the defaults as Helm does: maps are merged, other values replace their default, and `null` removes a key.
 * @param source the origin of the settings in the message of an error
 * @throws SettingsError
 *
 * @example
 * ```ts
 * import { parseSettings, SettingsError } from 'lumigo-kubernetes-operator';
 *
 * try {
 *   parseSettings({ cluster: { nam: 'production' } });
 * } catch (error) {
 *   if (error instanceof SettingsError) for (const problem of error.problems) process.stderr.write(`${problem}\n`);
 * }
 * ```
 */
export function parseSettings(given: unknown, source = 'The settings'): Settings {
  const complete = merge(settingsSchema.parse({}), spelledOut(given ?? {}));
  const result = settingsSchema.safeParse(complete);
  const problems = [
    ...(result.success ? [] : getProblems(result.error.issues, complete)),
    ...(isPlainObject(complete) ? crossFieldProblems(complete) : []),
  ];
  if (!result.success || problems.length > 0) throw new SettingsError(problems, source);
  return result.data;
}

/**
 * Returns the settings in a YAML or JSON file, which may have values of the original operator's chart. Without a file: the defaults.
 * @param warn receives a line for each value that has no effect
 * @throws SettingsError, also if the file is missing or malformed
 *
 * @example
 * ```ts
 * import { loadSettings } from 'lumigo-kubernetes-operator';
 *
 * const settings = loadSettings(process.env['LUMIGO_SETTINGS'], (warning) => process.stderr.write(`${warning}\n`));
 * process.stdout.write(`The operator runs in the namespace ${settings.namespace}.\n`);
 * ```
 */
export function loadSettings(file?: string, warn: (line: string) => void = () => undefined): Settings {
  if (file === undefined || file === '') return parseSettings({});
  const source = `The settings file ${file}`;
  let given: unknown;
  try {
    given = parse(readFileSync(file, 'utf8'), { prettyErrors: true, logLevel: 'error' });
  } catch (error) {
    throw new SettingsError([unreadable(error)], source);
  }
  const refused = getRefusals(given);
  if (refused.length > 0) throw new SettingsError(refused, source);
  for (const line of getWarnings(given))
    warn(`${source} has a value of the original operator that has no effect: ${line}`);
  return parseSettings(withoutOriginal(given), source);
}

/** Returns why a file cannot be read, without the library's message, which quotes the file. */
function unreadable(error: unknown): string {
  if (error instanceof YAMLParseError) {
    const [{ line = 0, col = 0 } = {}] = error.linePos ?? [];
    return `it cannot be read as YAML or JSON: ${error.code.toLowerCase().replaceAll('_', ' ')} in line ${line}, column ${col}`;
  }
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT')
    return `the file does not exist. ${settingsVariable} must be its path, relative to the current folder`;
  return `it cannot be read as YAML or JSON: ${code ?? 'an alias in it has no anchor'}`;
}

const spelledOut = (given: unknown): unknown =>
  isPlainObject(given) && given['monitoredNamespaces'] === 'all'
    ? { ...given, monitoredNamespaces: allNamespaces }
    : given;

function merge(base: unknown, given: unknown): unknown {
  if (!isPlainObject(base) || !isPlainObject(given)) return given;
  const merged: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(given)) {
    if (value === null) delete merged[key];
    else merged[key] = Object.hasOwn(base, key) ? merge(base[key], value) : value;
  }
  return merged;
}

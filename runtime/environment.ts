import { ConfigError } from './errors.ts';

/** One setting as an environment variable: how it is read, and how it is written. */
export interface Field<T> {
  readonly variable: string;
  readonly fallback?: T;
  /** Returns the value, or throws the rest of a sentence that begins with the variable's name. */
  readonly parse: (text: string) => T;
  readonly format: (value: T) => string;
}

/** @param meaning what it must be, for the message of an error */
export const text = (pattern: RegExp, meaning: string) => (value: string) => {
  if (!pattern.test(value)) throw new Error(`must be ${meaning}`);
  return value;
};

export function oneOf<T extends string>(...values: readonly T[]) {
  return (value: string): T => {
    const found = values.find((known) => known === value);
    if (found === undefined) throw new Error(`must be one of ${values.join(', ')}`);
    return found;
  };
}

export const integer = (min: number, max: number) => (value: string) => {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < min || number > max)
    throw new Error(`must be a whole number from ${min} to ${max}`);
  return number;
};

const names = (value: string): readonly string[] => value.split(',').filter((name) => name !== '');
export const port = integer(1, 65_535);
export const name = text(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'a Kubernetes name (lower-case letters, digits, - and .)');
export const nonEmpty = text(/\S/, 'set');
export const url = text(/^https?:\/\/[^/\s]+(\/.*[^/])?$/, 'an http(s) URL without a trailing slash');

export function field<T>(variable: string, parse: (text: string) => T, fallback?: T): Field<T> {
  return { variable, parse, format: String, ...(fallback === undefined ? {} : { fallback }) };
}

export const list = (variable: string, fallback: readonly string[]): Field<readonly string[]> => ({
  ...field<readonly string[]>(variable, names, fallback),
  format: (value) => value.join(','),
});

export type Fields<T> = { readonly [K in keyof T]: Field<T[K]> };

/** Reads and writes a whole configuration by its table. */
export interface EnvironmentTable<T> {
  /** The variable that carries a field, for whoever sets one otherwise than by value. */
  readonly variableOf: (key: keyof T) => string;
  /** The environment that makes `fromEnvironment` give back `config`. It formats and never validates, so placeholders pass. */
  readonly toEnvironment: (config: T) => { name: string; value: string }[];
  /**
   * Reads the configuration from an environment.
   * @throws ConfigError with every problem: a missing variable, a value of the wrong form, a LUMIGO_ variable that nobody reads.
   */
  readonly fromEnvironment: (environment: Readonly<Record<string, string | undefined>>) => T;
}

export function environmentTable<T extends object>(fields: Fields<T>): EnvironmentTable<T> {
  const keys = Object.keys(fields) as (keyof T)[];
  const write = <K extends keyof T>(config: T, key: K) => ({
    name: fields[key].variable,
    value: fields[key].format(config[key]),
  });
  return {
    variableOf: (key) => fields[key].variable,
    toEnvironment: (config) => keys.map((key) => write(config, key)),
    fromEnvironment(environment) {
      const problems: string[] = [];
      const config = Object.fromEntries(
        keys.map((key) => [key, read(fields[key] as Field<unknown>, environment, problems)]),
      );
      problems.push(...unknownIn(environment, new Set(keys.map((key) => fields[key].variable))));
      if (problems.length > 0) throw new ConfigError(problems);
      return config as T;
    },
  };
}

function read(
  { variable, fallback, parse }: Field<unknown>,
  environment: Readonly<Record<string, string | undefined>>,
  problems: string[],
): unknown {
  const value = environment[variable];
  if (value === undefined || value === '') {
    if (fallback === undefined) problems.push(`${variable} is not set`);
    return fallback;
  }
  try {
    return parse(value);
  } catch (error) {
    problems.push(`${variable}=${JSON.stringify(value)} ${(error as Error).message}`);
    return undefined;
  }
}

const unknownIn = (environment: object, known: ReadonlySet<string>): readonly string[] =>
  Object.keys(environment)
    .filter((variable) => variable.startsWith('LUMIGO_') && !known.has(variable))
    .map((variable) => `${variable} is set, but the operator knows no such variable; is it misspelt?`);

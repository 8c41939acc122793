import { ConfigError } from '../wording/errors.ts';

/** One setting as an environment variable: how it is read. `String` writes it, lists with commas. */
export interface Field<T> {
  readonly variable: string;
  /** Returns the value, or throws the rest of a sentence that begins with the variable's name. */
  readonly parse: (text: string) => T;
  /** Where it is not set; undefined: it has to be. */
  readonly fallback: T | undefined;
  /** Which setting of the manifests it carries as it is, e.g. `rollout.soakSeconds`; undefined: it is made of others, or of none. */
  readonly setting?: string;
}

type Fields<F> = { readonly [K in keyof F]: Field<unknown> };

/** What a table of fields reads. */
export type Configuration<F extends Fields<F>> = { readonly [K in keyof F]: ReturnType<F[K]['parse']> };

export const field = <T>(variable: string, parse: (text: string) => T, fallback?: NoInfer<T>): Field<T> => ({
  variable,
  parse,
  fallback,
});

/** A field that carries a setting of the manifests, by its path. */
export const setting = <T, const Path extends string>(
  path: Path,
  variable: string,
  parse: (text: string) => T,
  fallback?: NoInfer<T>,
) => ({ ...field(variable, parse, fallback), setting: path });

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

export const trueOrFalse = (value: string): boolean => oneOf('true', 'false')(value) === 'true';
export const names = (value: string): readonly string[] => value.split(',').filter((name) => name !== '');
export const port = integer(1, 65_535);
export const name = text(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, 'a Kubernetes name (lower-case letters, digits, - and .)');
export const nonEmpty = text(/\S/, 'set');
/** Another form, or nothing. */
export const emptyOr = (parse: (text: string) => string) => (value: string) => (value === '' ? '' : parse(value));
/** A text that somebody else reads, as it is; `read` throws where it cannot. */
export const checked = (read: (text: string) => unknown) => (value: string) => {
  read(value);
  return value;
};
/** An amount of memory or disk as Kubernetes writes it. */
export const quantityPattern = /^[1-9][0-9]*(\.[0-9]+)?(k|Ki|[MGT]i?)?$/;
export const quantity = text(quantityPattern, 'a quantity, such as 512Mi');
export const url = text(/^https?:\/\/[^/\s]+(\/.*[^/])?$/, 'an http(s) URL without a trailing slash');

const inPod =
  'This program runs only in the pod of the Lumigo operator, which sets its LUMIGO_ variables. Elsewhere, use --preview, --explain or --uninstall (see --help).';

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads and writes a whole configuration by its table. */
export const environmentTable = <F extends Fields<F>>(fields: F) => ({
  /** The variable that carries a field, for whoever sets one otherwise than by value. */
  variableOf: (key: keyof F): string => fields[key].variable,

  /** The environment that makes `fromEnvironment` give back `config`. It formats and never validates, so placeholders pass. */
  toEnvironment: (config: Configuration<F>): { name: string; value: string }[] =>
    Object.entries<Field<unknown>>(fields).map(([key, { variable }]) => ({
      name: variable,
      value: String(config[key as keyof F]),
    })),

  /**
   * Reads the configuration from an environment.
   * @throws ConfigError with every problem: a missing variable, a value of the wrong form, a LUMIGO_ variable that nobody reads.
   */
  fromEnvironment(environment: Environment): Configuration<F> {
    if (!Object.keys(environment).some((variable) => variable.startsWith('LUMIGO_'))) throw new ConfigError([inPod]);
    const problems: string[] = [];
    const values = Object.entries<Field<unknown>>(fields).map(([key, each]) => [
      key,
      read(each, environment, problems),
    ]);
    const known = new Set(Object.values<Field<unknown>>(fields).map(({ variable }) => variable));
    for (const variable of Object.keys(environment))
      if (variable.startsWith('LUMIGO_') && !known.has(variable))
        problems.push(`${variable} is set, but the operator has no such variable; remove it or correct its spelling`);
    if (problems.length > 0) throw new ConfigError(problems);
    return Object.fromEntries(values) as Configuration<F>;
  },
});

function read({ variable, fallback, parse }: Field<unknown>, environment: Environment, problems: string[]): unknown {
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

import { flag as isFlag, listOf, text as isText } from '../json/form.ts';
import { isPlainObject, orUndefined, type JsonMap } from '../json/values.ts';
import { ConfigError } from '../wording/errors.ts';
import { programVersion, requireOwn } from './version.ts';

/** The type of a value. The settings (infra/settings) check ranges and defaults before they write the document. */
export interface Kind<T> {
  readonly meaning: string;
  readonly accepts: (value: unknown) => value is T;
  /** The setting with the same value, such as `rollout.soakSeconds`. */
  readonly setting?: string;
}

export type Kinds = Readonly<Record<string, Kind<unknown>>>;

export type Configuration<K extends Kinds> = SharedConfiguration<K> & { readonly podName: string };

export type SharedConfiguration<K extends Kinds> = {
  readonly [Key in keyof K]: K[Key] extends Kind<infer T> ? T : never;
};

const kind = <T>(meaning: string, accepts: (value: unknown) => boolean): Kind<T> => ({
  meaning,
  accepts: (value): value is T => accepts(value),
});

export const text = kind<string>('a text', isText);
export const texts = kind<readonly string[]>('a list of texts', listOf(isText));
export const maps = <T>() => kind<readonly T[]>('a list of maps', listOf(isPlainObject));
export const wholeNumber = kind<number>('a whole number', Number.isInteger);
export const flag = kind<boolean>('true or false', isFlag);
export const oneOf = <const T extends string>(...values: readonly T[]) =>
  kind<T>(`one of ${values.join(', ')}`, (value) => values.includes(value as T));

export const setting = <const Path extends string, T>(path: Path, of: Kind<T>) => ({ ...of, setting: path });

export const variables = { config: 'LUMIGO_CONFIG', podName: 'LUMIGO_POD_NAME' } as const;

/** Throws a ConfigError with one sentence about all problems. A `program` of version `dev` reads the settings of any release, also with unknown values. */
export function readConfiguration<K extends Kinds>(kinds: K, environment: NodeJS.ProcessEnv, program = programVersion) {
  const { [variables.config]: json, [variables.podName]: podName = '' } = environment;
  if (json === undefined)
    throw new ConfigError([
      `This program runs only in the pod of the Lumigo operator, which sets ${variables.config}. Elsewhere, use another command of lumigo, such as lumigo check (see lumigo --help).`,
    ]);
  const document = parsed(json);
  requireOwn(document?.['version'], program);
  const find = program === 'dev' ? getWrong : getProblems;
  const problems = document === undefined ? ['it is not a map in JSON'] : find(kinds, document);
  if (podName === '') problems.push(`${variables.podName} is not set`);
  if (problems.length > 0)
    throw new ConfigError([
      `${variables.config} is not what this version of the operator reads: ${problems.join('; ')}. Install its manifests again.`,
    ]);
  return { ...(document as SharedConfiguration<K>), podName };
}

/** Reads what a command needs from the document of an operator of any version. `defaults`: for what it does not have. */
export function readForeign<K extends Kinds>(kinds: K, json: string, defaults: object): SharedConfiguration<K> {
  const complete = { ...defaults, ...parsed(json) };
  const problems = getWrong(kinds, complete);
  if (problems.length > 0)
    throw new Error(
      `the operator's settings cannot be read: ${problems.join('; ')}. Use a lumigo of the operator's version`,
    );
  return complete as SharedConfiguration<K>;
}

/** Returns undefined if it is not a map in JSON. */
function parsed(json: string): JsonMap | undefined {
  const document = orUndefined(() => JSON.parse(json) as unknown);
  return isPlainObject(document) ? document : undefined;
}

const getWrong = (kinds: Kinds, document: JsonMap): string[] =>
  Object.entries(kinds).flatMap(([key, { accepts, meaning }]) =>
    accepts(document[key]) ? [] : [`${key} must be ${meaning}`],
  );

function getProblems(kinds: Kinds, document: JsonMap): string[] {
  const unknown = Object.keys(document).filter((key) => !Object.hasOwn(kinds, key));
  return [...getWrong(kinds, document), ...unknown.map((key) => `${key} is unknown`)];
}

import { isMap } from '../json/values.ts';
import { ConfigError } from '../wording/errors.ts';

/**
 * The type of a value of the document, which the program needs. Its range, its default and its meaning are in the settings
 * (infra/settings), which are checked before the document is written.
 */
export interface Kind<T> {
  readonly meaning: string;
  readonly accepts: (value: unknown) => value is T;
  /** The setting that it carries unchanged, such as `rollout.soakSeconds`; undefined: it is derived from others, or from none. */
  readonly setting?: string;
}

export type Kinds = Readonly<Record<string, Kind<unknown>>>;

/** The configuration that a table of kinds reads, with the name of the pod, which only Kubernetes knows. */
export type Configuration<K extends Kinds> = Told<K> & { readonly podName: string };

/** The content of a document. */
export type Told<K extends Kinds> = {
  readonly [Key in keyof K]: K[Key] extends Kind<infer T> ? T : never;
};

const kind = <T>(meaning: string, accepts: (value: unknown) => boolean): Kind<T> => ({
  meaning,
  accepts: (value): value is T => accepts(value),
});

const isText = (value: unknown): boolean => typeof value === 'string';
const isListOf = (isEach: (value: unknown) => boolean) => (value: unknown) =>
  Array.isArray(value) && value.every(isEach);

export const text = kind<string>('a text', isText);
export const texts = kind<readonly string[]>('a list of texts', isListOf(isText));
/** A list of maps, whose form is left to the settings. */
export const maps = <T>() => kind<readonly T[]>('a list of maps', isListOf(isMap));
export const wholeNumber = kind<number>('a whole number', Number.isInteger);
export const flag = kind<boolean>('true or false', (value) => typeof value === 'boolean');
export const oneOf = <const T extends string>(...values: readonly T[]) =>
  kind<T>(`one of ${values.join(', ')}`, (value) => values.includes(value as T));

/** A value that is a setting, by its path. */
export const setting = <const Path extends string, T>(path: Path, of: Kind<T>) => ({ ...of, setting: path });

/** The environment variables of the operator's containers: the document as JSON, and the name of the pod. */
export const variables = { config: 'LUMIGO_CONFIG', podName: 'LUMIGO_POD_NAME' } as const;

type Environment = Readonly<Record<string, string | undefined>>;

const inPod =
  `This program runs only in the pod of the Lumigo operator, which sets ${variables.config}. ` +
  'Elsewhere, use another command of lumigo, such as lumigo check (see lumigo --help).';

/**
 * Reads the configuration from an environment.
 * @throws ConfigError with one sentence about all that is wrong with the document
 */
export function readConfiguration<K extends Kinds>(kinds: K, environment: Environment): Configuration<K> {
  const { [variables.config]: json, [variables.podName]: podName = '' } = environment;
  if (json === undefined) throw new ConfigError([inPod]);
  const document = parsed(json);
  const problems = isMap(document) ? problemsOf(kinds, document) : ['it is not a map in JSON'];
  if (podName === '') problems.push(`${variables.podName} is not set`);
  if (problems.length > 0)
    throw new ConfigError([
      `${variables.config} is not what this version of the operator reads: ${problems.join('; ')}. Install its manifests again.`,
    ]);
  return { ...(document as Told<K>), podName };
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function problemsOf(kinds: Kinds, document: Readonly<Record<string, unknown>>): string[] {
  const wrong = Object.entries(kinds).flatMap(([key, { accepts, meaning }]) =>
    accepts(document[key]) ? [] : [`${key} must be ${meaning}`],
  );
  const unknown = Object.keys(document).filter((key) => !Object.hasOwn(kinds, key));
  return [...wrong, ...unknown.map((key) => `${key} is unknown`)];
}

import { variables, type Kinds, type Told } from '../../runtime/config/document.ts';
import type { Settings } from '../settings/schema.ts';

/** The type of the setting at a path with dots; `unknown`, which no kind accepts, if there is no such setting. */
type At<T, Path> = Path extends `${infer Step}.${infer Rest}`
  ? Step extends keyof T
    ? At<T[Step], Rest>
    : unknown
  : Path extends keyof T
    ? T[Path]
    : unknown;

type Carrying<Path> = { readonly setting: Path };

/** The values of a table that are not settings themselves. */
type Derived<K extends Kinds> = {
  readonly [Key in keyof Told<K> as K[Key] extends Carrying<string> ? never : Key]: Told<K>[Key];
};

/** A table that does not compile if a setting that it names does not exist, or has values that the runtime does not accept. */
type Fitting<K extends Kinds> = {
  readonly [Key in keyof K]: K[Key] extends Carrying<infer Path>
    ? At<Settings, Path> extends Told<K>[Key]
      ? unknown
      : Carrying<never>
    : unknown;
};

/** Returns the configuration that a table describes: the settings that it names, and what is derived from others. */
export function configured<K extends Kinds>(kinds: K & Fitting<K>, settings: Settings, derived: Derived<K>): Told<K> {
  const carried = Object.entries(kinds).flatMap(([key, { setting }]) =>
    setting === undefined ? [] : [[key, at(settings, setting)]],
  );
  const values: Readonly<Record<string, unknown>> = { ...derived, ...Object.fromEntries(carried) };
  // In the order of the table.
  return Object.fromEntries(Object.keys(kinds).map((key) => [key, values[key]])) as Told<K>;
}

const at = (settings: Settings, path: string): unknown =>
  path.split('.').reduce<unknown>((node, step) => (node as Readonly<Record<string, unknown>>)[step], settings);

/** The environment of a container that reads this configuration, with the pod's name as Kubernetes tells it. */
export const environmentWith = (configuration: Readonly<Record<string, unknown>>) => [
  { name: variables.config, value: documentOf(configuration) },
  { name: variables.podName, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
];

/** JSON with a value in each line, so that a change of a setting is one line where people compare manifests. */
export function documentOf(configuration: Readonly<Record<string, unknown>>): string {
  const lines = Object.entries(configuration).map(([key, value]) => `  "${key}": ${JSON.stringify(value)}`);
  return ['{', lines.join(',\n'), '}'].join('\n');
}

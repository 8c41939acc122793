import { variables, type Kinds, type SharedConfiguration } from '../../runtime/config/document.ts';
import type { JsonMap } from '../../runtime/json/values.ts';
import { at } from '../settings/original-values.ts';
import type { Settings } from '../settings/schema.ts';

type At<T, Path> = Path extends `${infer Step}.${infer Rest}`
  ? Step extends keyof T
    ? At<T[Step], Rest>
    : unknown
  : Path extends keyof T
    ? T[Path]
    : unknown;

type Carrying<Path> = { readonly setting: Path };

type Derived<K extends Kinds> = {
  readonly [
    Key in keyof SharedConfiguration<K> as K[Key] extends Carrying<string> ? never : Key
  ]: SharedConfiguration<K>[Key];
};

/** A table that compiles only if each setting that it names exists and has values that the runtime accepts. */
type Fitting<K extends Kinds> = {
  readonly [Key in keyof K]: K[Key] extends Carrying<infer Path>
    ? At<Settings, Path> extends SharedConfiguration<K>[Key]
      ? unknown
      : Carrying<never>
    : unknown;
};

/** Returns the configuration of a table: the settings that it names, and values that are derived from several settings. */
export function configured<K extends Kinds>(
  kinds: K & Fitting<K>,
  settings: Settings,
  derived: Derived<K>,
): SharedConfiguration<K> {
  const values: JsonMap = derived;
  const complete = Object.entries(kinds).map(([key, { setting }]) => [
    key,
    setting === undefined ? values[key] : at(settings, setting),
  ]);
  return Object.fromEntries(complete) as SharedConfiguration<K>;
}

export const environmentWith = (configuration: JsonMap) => [
  { name: variables.config, value: toDocument(configuration) },
  { name: variables.podName, valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
];

/** Returns JSON with one value per line, for diffs of manifests, and no `$`, because Kubernetes expands `$(NAME)` and `$$`. */
export function toDocument(configuration: JsonMap): string {
  const lines = Object.entries(configuration).map(([key, value]) => `  "${key}": ${JSON.stringify(value)}`);
  return ['{', lines.join(',\n'), '}'].join('\n').replaceAll('$', '\\u0024');
}

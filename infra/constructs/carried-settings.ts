import type { Field } from '../../runtime/config/environment.ts';
import type { Settings } from '../settings/schema.ts';

/** The type of the setting at a path with dots; `unknown`, which no field accepts, if there is no such setting. */
type At<T, Path> = Path extends `${infer Step}.${infer Rest}`
  ? Step extends keyof T
    ? At<T[Step], Rest>
    : unknown
  : Path extends keyof T
    ? T[Path]
    : unknown;

type Carried<F> = {
  readonly [K in keyof F as F[K] extends { readonly setting: string } ? K : never]: F[K] extends {
    readonly setting: infer Path;
  }
    ? At<Settings, Path>
    : never;
};

/** Returns the values of those environment variables in a table that carry a setting unchanged. */
export const carriedSettings = <F extends Readonly<Record<string, Field<unknown>>>>(fields: F, settings: Settings) =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([key, { setting }]) =>
      setting === undefined ? [] : [[key, at(settings, setting)]],
    ),
  ) as Carried<F>;

const at = (settings: Settings, path: string): unknown =>
  path.split('.').reduce<unknown>((node, step) => (node as Readonly<Record<string, unknown>>)[step], settings);

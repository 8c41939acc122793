import { z } from 'zod';
import { settingsSchema } from './schema.ts';

/** A setting, as the reference describes it. */
export interface SettingEntry {
  /** The path, e.g. `endpoint.otlp.url`. `[]` means each item of a list. */
  readonly path: string;
  /** The default. Undefined: the setting is required. Null: it has none. */
  readonly fallback: unknown;
  readonly meaning: string;
  /** `strings` and `objects` are lists. A `map` has the form of Kubernetes. */
  readonly type: 'text' | 'integer' | 'boolean' | 'strings' | 'objects' | 'map';
}

export interface JsonSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  /** No message shows the value. */
  readonly writeOnly?: boolean;
  readonly pattern?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly items?: JsonSchema;
  readonly required?: readonly string[];
}

/** Returns the rules of settings in the secret section `lumigoToken`: a pattern, and the message if it does not match. */
export const secretRules = () => {
  const { properties = {} } = settingsJsonSchema().properties?.['lumigoToken'] ?? {};
  return Object.entries(properties).map(([key, { pattern = '' }]) => {
    const { error } = settingsSchema.safeParse({ lumigoToken: { [key]: '!' } });
    return { key, pattern, message: error?.issues[0]?.message ?? '' };
  });
};

/** Returns the form of the settings that a user may leave out or set. */
export const settingsJsonSchema = () => z.toJSONSchema(settingsSchema, { io: 'input' }) as JsonSchema;

export const secretPaths = (): readonly string[] => secretsIn(settingsJsonSchema(), '');

const secretsIn = ({ writeOnly, properties = {} }: JsonSchema, path: string): string[] =>
  writeOnly === true
    ? [path]
    : Object.entries(properties).flatMap(([key, child]) => secretsIn(child, path === '' ? key : `${path}.${key}`));

/** Returns each setting in the order of the schema. A list precedes the keys of its items. */
export const settingEntries = (): readonly SettingEntry[] => getEntries(settingsJsonSchema(), '', false);

function getEntries(schema: JsonSchema, path: string, isRequired: boolean): SettingEntry[] {
  const { description: meaning, default: given } = schema;
  const fallback = given ?? (isRequired ? undefined : null);
  const own = meaning === undefined ? [] : [{ path, fallback, meaning, type: typeOf(schema) }];
  const children = Object.entries(schema.properties ?? {}).flatMap(([key, child]) =>
    getEntries(child, path === '' ? key : `${path}.${key}`, schema.required?.includes(key) === true),
  );
  const items = schema.items?.properties === undefined ? [] : getEntries(schema.items, `${path}[]`, false);
  return [...own, ...children, ...items];
}

function typeOf({ type, items }: JsonSchema): SettingEntry['type'] {
  if (type === 'integer' || type === 'boolean') return type;
  if (type === 'array') return items?.type === 'string' ? 'strings' : 'objects';
  return type === 'object' ? 'map' : 'text';
}

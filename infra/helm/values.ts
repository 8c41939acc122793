import { Document, isMap as isYamlMap, isScalar, type YAMLMap } from 'yaml';
import { parseSettings } from '../settings/settings.ts';
import { originalValues, type OriginalValue } from '../settings/original-values.ts';
import { settingEntries, settingsJsonSchema, type JsonSchema } from '../settings/tree.ts';
import { withdrawnSettings } from '../settings/withdrawn.ts';

export const ofTheRelease = ['namespace', 'createNamespace'];

/** The default is different in the chart, because only Helm can upgrade. `valuesSchema` names it, too. */
export const chartDefaults = { updater: { mode: 'upgrade' } } as const;

export function chartValues(): string {
  const { namespace: _namespace, createNamespace: _create, ...defaults } = parseSettings(chartDefaults);
  const document = new Document({ ...defaults, name: '' });
  // The templates add those that are always excluded.
  document.setIn(['webhook', 'excludedNamespaces'], []);
  const meanings = new Map(settingEntries().map(({ path, meaning }) => [path, meaning]));
  meanings.set(
    'name',
    'The name of the installation. The names of its objects begin with it. Empty: it follows from the name of the release.',
  );
  comment(document.contents as YAMLMap, '', meanings);
  return document.toString({ lineWidth: 0 });
}

function comment(map: YAMLMap, prefix: string, meanings: ReadonlyMap<string, string>): void {
  for (const { key, value } of map.items) {
    const path = `${prefix}${String(isScalar(key) ? key.value : key)}`;
    const meaning = meanings.get(path);
    if (isScalar(key) && meaning !== undefined) key.commentBefore = ` ${meaning}`;
    if (isYamlMap(value) && meaning === undefined) comment(value as YAMLMap, `${path}.`, meanings);
  }
}

/** Returns values.schema.json. It refuses an unknown setting, a wrong form, and a `null` that removes a default. */
export function valuesSchema(): string {
  const schema = settingsJsonSchema();
  const properties = Object.fromEntries(
    Object.entries(schema.properties ?? {}).filter(([key]) => !ofTheRelease.includes(key)),
  );
  const name = {
    anyOf: [{ enum: ['', null] }, properties['name']],
    description: 'Empty: it follows from the name of the release.',
  };
  const monitoredNamespaces = { default: [], anyOf: [{ const: 'all' }, properties['monitoredNamespaces']] };
  const own = { ...schema, properties: { ...properties, monitoredNamespaces, name } } as JsonSchema;
  const given = { ...properties['updater']?.properties?.['mode'], default: chartDefaults.updater.mode };
  const mode = { anyOf: [{ const: false, description: 'The same as off.' }, given] };
  const readable = withProperty(own, ['updater', 'mode'], mode);
  const known = originalValues.reduce(withOriginal, withRequired(withoutRules(readable, false), ''));
  const whole = Object.entries(withdrawnSettings).reduce(withWithdrawn, known);
  const enabled = { type: 'boolean', description: 'For the condition of a parent chart.' };
  const ofParent = withProperty(withProperty(whole, ['global'], { type: 'object' }), ['enabled'], enabled);
  return `${JSON.stringify(ofParent, undefined, 2)}\n`;
}

type Properties = NonNullable<JsonSchema['properties']>;

const mapEach = (properties: Properties, change: (child: JsonSchema, key: string) => JsonSchema): Properties =>
  Object.fromEntries(Object.entries(properties).map(([key, child]) => [key, change(child, key)]));

/** Removes the rules of secret settings, because Helm shows a value that breaks one. The templates have them (refusals.ts). */
function withoutRules({ properties, ...schema }: JsonSchema, isInSecret: boolean): JsonSchema {
  const isSecret = isInSecret || schema.writeOnly === true;
  const { pattern: _pattern, additionalProperties: _more, ...open } = schema as Record<string, unknown>;
  const own = isSecret ? open : schema;
  if (properties === undefined) return own;
  return { ...own, properties: mapEach(properties, (child) => withoutRules(child, isSecret)) };
}

/** Accepts settings of the original operator's chart that this one does not have, with any value. */
function withOriginal(schema: JsonSchema, row: OriginalValue): JsonSchema {
  if ('warned' in row) return withProperty(schema, row.path.split('.'), { description: row.warned });
  if (!('acts' in row) || row.as === undefined) return schema;
  return withProperty(schema, [row.path], { ...schema.properties?.[row.as], description: `The same as ${row.as}.` });
}

/** Accepts a withdrawn setting, because the templates refuse it with advice (refusals.ts). */
const withWithdrawn = (schema: JsonSchema, [path, advice]: readonly [string, string]): JsonSchema =>
  withProperty(schema, path.split('.'), { description: `Withdrawn: ${advice}.` });

/** The empty values by their JSON, in Go's template language. */
const emptyValues: Readonly<Record<string, string>> = { '""': '""', '{}': 'dict', '[]': 'list' };

/** Returns the empty value that replaces `null`, which the original operator's values file has in place of it. Helm removes a `null`. */
export const getEmpty = (path: string, fallback: unknown): string | undefined =>
  originalValues.some((row) => 'acts' in row && `${path}.`.startsWith(`${row.path}.`))
    ? emptyValues[JSON.stringify(fallback) ?? '']
    : undefined;

/**
 * Requires each setting with a default: Helm merges defaults before it validates, so a missing one was removed by `null`. Items of lists
 * are not merged, and keys of Kubernetes' own maps have no default.
 */
function withRequired(schema: JsonSchema, path: string): JsonSchema {
  const { properties } = schema;
  if (properties === undefined) return schema;
  const required = Object.entries(properties).flatMap(([key, child]) =>
    child.properties === undefined && getEmpty(`${path}${key}`, child.default) !== undefined ? [] : [key],
  );
  return {
    ...schema,
    properties: mapEach(properties, (child, key) => withRequired(child, `${path}${key}.`)),
    required,
  };
}

function withProperty(schema: JsonSchema, [key = '', ...more]: readonly string[], property: object): JsonSchema {
  const { properties = {} } = schema;
  const child: object = more.length === 0 ? property : withProperty(properties[key] ?? {}, more, property);
  return { ...schema, properties: { ...properties, [key]: child as JsonSchema } };
}

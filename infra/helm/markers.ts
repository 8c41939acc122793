import { parseSettings, type Settings } from '../settings/settings.ts';
import { settingEntries, type SettingEntry } from '../settings/tree.ts';

/**
 * Settings whose values are markers: the constructs put them wherever a value goes, and the writer of templates finds them
 * there. A marker is a valid name, so it may become part of one; a number is one that nothing else is.
 */
export interface Marked {
  readonly settings: Settings;
  /** The template expression of each marker. */
  readonly expressions: ReadonlyMap<string, Expression>;
}

export interface Expression {
  readonly path: string;
  /** In Go's template language, for use in a pipeline. */
  readonly code: string;
  readonly type: SettingEntry['type'];
}

/** The settings that are more than their value: a Helm release provides them, or they have a short form. */
const given: Readonly<Record<string, string>> = {
  name: '(include "lumigo-operator.fullname" $)',
  instance: '(default $.Release.Name $.Values.instance)',
  namespace: '$.Release.Namespace',
  monitoredNamespaces:
    '(ternary (list (dict "selector" dict)) $.Values.monitoredNamespaces (kindIs "string" $.Values.monitoredNamespaces))',
};

/** Numbers are markers from here on: no setting has one as large. */
const FIRST_NUMBER = 7_700_000;

/**
 * @param fixed settings that have this value instead of a marker, by path: those that decide about structure, which the
 * switches (switches.ts) set
 */
export function markedSettings(fixed: Readonly<Record<string, unknown>>): Marked {
  const expressions = new Map<string, Expression>();
  const settings = structuredClone(parseSettings({})) as unknown as Record<string, unknown>;
  settingEntries().forEach(({ path, type }, index) => {
    // Items of a list have the marker of the list.
    if (path.includes('[]')) return;
    if (path in fixed) return set(settings, path, fixed[path]);
    const marker = type === 'integer' ? FIRST_NUMBER + index : `xhelm${index}x`;
    expressions.set(String(marker), { path, code: given[path] ?? `$.Values.${path}`, type });
    set(settings, path, shaped(type, marker));
  });
  return { settings: settings as unknown as Settings, expressions };
}

/** A marker in the form that a setting of this type has. */
function shaped(type: SettingEntry['type'], marker: string | number): unknown {
  if (type === 'strings') return [marker];
  if (type === 'objects') return [{ [marker]: marker }];
  if (type === 'map') return { [marker]: marker };
  return marker;
}

function set(target: Record<string, unknown>, path: string, value: unknown): void {
  const keys = path.split('.');
  const last = keys.pop() ?? '';
  const parent = keys.reduce((node, key) => node[key] as Record<string, unknown>, target);
  parent[last] = value;
}

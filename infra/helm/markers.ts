import { excludedNamespaces } from '../../runtime/contract.ts';
import { parseSettings, type Settings } from '../settings/settings.ts';
import { settingEntries, type SettingEntry } from '../settings/tree.ts';
import { quoted } from './go-template.ts';
import { getEmpty } from './values.ts';

export interface Expression {
  readonly path: string;
  readonly code: string;
  readonly type: SettingEntry['type'];
}

/** Returns the excluded namespaces of values, as the schema of the settings completes them (settings/webhook.ts). */
export const allExcluded = (values: string): string =>
  `(concat (list ${excludedNamespaces.map(quoted).join(' ')}) ${values}.webhook.excludedNamespaces | uniq)`;

/** Settings with more than a value: a Helm release provides them, or they have a short form. */
const given: Readonly<Record<string, string>> = {
  name: '(include "lumigo-operator.fullname" $)',
  instance: '(default $.Release.Name $.Values.instance)',
  namespace: '$.Release.Namespace',
  monitoredNamespaces:
    '(ternary (list (dict "selector" dict)) $.Values.monitoredNamespaces (kindIs "string" $.Values.monitoredNamespaces))',
  'webhook.excludedNamespaces': allExcluded('$.Values'),
};

/** Numbers from here on are markers, because no setting allows one as large. */
const FIRST_NUMBER = 7_700_000;

/**
 * Returns settings with markers as values. The constructs copy them, and the template writer finds them.
 * @param fixed values by path that replace markers, because they decide about structure (switches.ts)
 */
export function markedSettings(fixed: Readonly<Record<string, unknown>>) {
  const expressions = new Map<string, Expression>();
  const settings = structuredClone(parseSettings({})) as unknown as Record<string, unknown>;
  settingEntries().forEach(({ path, type, fallback }, index) => {
    if (path.includes('[]')) return;
    if (fixed[path] !== undefined) return set(settings, path, fixed[path]);
    const marker = type === 'integer' ? FIRST_NUMBER + index : `xhelm${index}x`;
    const value = `$.Values.${path}`;
    const empty = getEmpty(path, fallback);
    const code = given[path] ?? (empty === undefined ? value : `(default ${empty} ${value})`);
    expressions.set(String(marker), { path, code, type });
    set(settings, path, shaped(type, marker));
  });
  return { settings: settings as unknown as Settings, expressions };
}

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

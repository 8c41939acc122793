import { markdownTable } from './markdown-table.ts';
import { settingEntries, type SettingEntry } from './tree.ts';
import { settingsVariable } from './settings.ts';

/** The settings that people use first. */
const FIRST = [
  'monitoredNamespaces',
  'lumigoToken.value',
  'cluster.name',
  'endpoint.otlp.url',
  'rollout.strategy',
  'imagePrefix',
  'metrics.serviceMonitor.enabled',
  'updater.mode',
];

function fallbackText(value: unknown): string {
  if (value === undefined) return '(required)';
  return value === null ? '' : `\`${JSON.stringify(value)}\``;
}

const table = (entries: readonly SettingEntry[]): string =>
  markdownTable(
    ['setting', 'default', 'meaning'],
    entries.map(({ path, fallback, meaning }) => [`\`${path}\``, fallbackText(fallback), meaning]),
  );

/** Returns the first part of the path of a setting that is in a section, otherwise the heading of the others. */
const getSection = ({ path }: SettingEntry): string => /^(\w+)[.[]/.exec(path)?.[1] ?? 'Installation';

/**
 * Returns the settings by section, those that people use first on top. @param heading the marks of a heading
 * @param defaults the defaults that differ from the schema's, by path
 */
export function settingsTables(
  heading: string,
  isOf: (path: string) => boolean = () => true,
  defaults: Readonly<Record<string, unknown>> = {},
): string {
  const entries = settingEntries()
    .filter(({ path }) => isOf(path))
    .map((entry) => (entry.path in defaults ? { ...entry, fallback: defaults[entry.path] } : entry));
  const first = FIRST.flatMap((path) => entries.find((entry) => entry.path === path) ?? []);
  const lists = entries.filter(({ path }) => entries.some((other) => other.path.startsWith(`${path}[]`)));
  const sections = new Map<string, SettingEntry[]>([['Installation', []]]);
  for (const entry of entries) {
    const section = lists.includes(entry) ? entry.path : getSection(entry);
    sections.set(section, [...(sections.get(section) ?? []), entry]);
  }
  return [['First settings', first] as const, ...sections]
    .map(([title, own]) => `${heading} ${title}\n\n${table(own)}`)
    .join('\n\n');
}

export function settingsReference(): string {
  return `# Settings

Generated from \`infra/settings/schema.ts\` by \`npm run generate\`; do not edit.

Write the settings that differ from their default into a YAML or JSON file, and set \`${settingsVariable}\` to its path:

\`\`\`sh
${settingsVariable}=my-settings.yaml npm run synth
\`\`\`

Maps are merged with their default, key by key; \`null\` removes a key. Lists replace their default. With Helm, the same settings are
the values of the chart; with Pulumi, they are the object \`settings\` of the stack's configuration.

${settingsTables('##')}
`;
}

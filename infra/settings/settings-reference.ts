import { settingEntries } from './tree.ts';
import { settingsVariable } from './settings.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const withoutValue = (value: unknown): string | undefined => ({ undefined: '(required)', null: '' })[String(value)];

const fallbackText = (value: unknown): string => withoutValue(value) ?? `\`${JSON.stringify(value)}\``;

/** Returns a table of settings. @param defaults the defaults that differ from the schema's, by path */
export function settingsTable(
  isOf: (path: string) => boolean = () => true,
  defaults: Readonly<Record<string, unknown>> = {},
): string {
  const rows = settingEntries()
    .filter(({ path }) => isOf(path))
    .map(({ path, fallback, meaning }) => {
      const text = fallbackText(path in defaults ? defaults[path] : fallback);
      return `| \`${path}\` | ${cell(text)} | ${cell(meaning)} |`;
    });
  return ['| setting | default | meaning |', '| --- | --- | --- |', ...rows].join('\n');
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

${settingsTable()}
`;
}

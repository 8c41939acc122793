import { settingEntries } from './tree.ts';
import { settingsVariable } from './settings.ts';

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

const withoutValue = (value: unknown): string | undefined => ({ undefined: '(required)', null: '' })[String(value)];

const fallbackText = (value: unknown): string => withoutValue(value) ?? `\`${JSON.stringify(value)}\``;

/**
 * A table of settings: each with its default and its meaning, from the schema that checks it.
 * @param defaults those that are others than the schema's, by path
 */
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

/** docs/reference/settings.md. */
export function settingsReference(): string {
  return `# Settings

Generated from \`infra/settings/schema.ts\` by \`npm run generate\`; do not edit.

A YAML or JSON file with those settings that shall differ from their default, named by \`${settingsVariable}\`:

\`\`\`sh
${settingsVariable}=my-settings.yaml npm run synth
\`\`\`

Maps are merged with their default key by key (\`null\` takes a key out), lists replace theirs.

${settingsTable()}
`;
}

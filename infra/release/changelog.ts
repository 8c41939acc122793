import { sectionOf } from '../helm/artifact-hub.ts';

/** Returns the text of a version in CHANGELOG.md. @throws Error if its section is missing or empty */
export function changelogSection(changelog: string, version: string): string {
  const text = sectionOf(changelog, version).replace(/^.*/, '').trim();
  if (text !== '') return `${text}\n`;
  throw new Error(
    `CHANGELOG.md has no text under '## ${version}'. Describe the release there first (rename '## Unreleased')`,
  );
}

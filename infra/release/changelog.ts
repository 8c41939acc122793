/** Returns the section of a version in CHANGELOG.md. Its heading may end with a date. @throws Error if the section is missing or empty */
export function changelogSection(changelog: string, version: string): string {
  const sections = changelog.split(/^## /m).slice(1);
  const heading = (section: string): string => section.split('\n', 1)[0] ?? '';
  const found = sections.find(
    (section) =>
      heading(section)
        .replace(/^\[|\]/g, '')
        .split(' ')[0] === version,
  );
  const text = found?.slice(heading(found).length).trim() ?? '';
  if (text !== '') return `${text}\n`;
  throw new Error(
    `CHANGELOG.md has no text under '## ${version}'. Describe the release there first (rename '## Unreleased')`,
  );
}

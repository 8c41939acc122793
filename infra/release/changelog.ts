/**
 * Returns the section of a version in CHANGELOG.md, which is the text of its release. The heading `## VERSION` may end with a date.
 * @throws Error if there is no such section, or an empty one
 */
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

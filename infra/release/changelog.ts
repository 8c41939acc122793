/**
 * What CHANGELOG.md says of a version, which is the text of its release: all below `## VERSION`, which a date may follow, up to the
 * next such heading.
 * @throws Error where it has no such section, or an empty one
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
    `CHANGELOG.md has nothing under '## ${version}'; what is released is said there first (rename '## Unreleased')`,
  );
}

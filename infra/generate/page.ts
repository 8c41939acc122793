/** Returns a page of docs/reference/. Blocks are paragraphs, headings and tables. */
export const referencePage = (title: string, source: string, ...blocks: readonly string[]): string =>
  [`# ${title}`, `Generated from \`${source}\` by \`npm run generate\`; do not edit.`, ...blocks, '']
    .join('\n\n')
    .replace(/\n\n$/, '\n');

export const code = (text: string): string => `\`${text}\``;

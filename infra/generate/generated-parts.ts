/** Returns a document with new text between `<!-- NAME: generated -->` and `<!-- /NAME -->`. @throws Error if there is no such place */
export const withGenerated = (file: string, document: string, parts: Readonly<Record<string, string>>): string =>
  Object.entries(parts).reduce((text, [name, part]) => {
    const begin = `<!-- ${name}: generated -->\n`;
    const end = `<!-- /${name} -->`;
    const from = text.indexOf(begin);
    const to = text.indexOf(end);
    if (from < 0 || to < from) throw new Error(`${file} has no ${begin.trim()} with ${end} after it`);
    return `${text.slice(0, from + begin.length)}${part}\n${text.slice(to)}`;
  }, document);

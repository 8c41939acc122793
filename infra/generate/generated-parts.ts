/**
 * A document of ours with some parts written anew, each between `<!-- NAME: generated -->` and `<!-- /NAME -->`.
 * @throws Error where it has no such place any more
 */
export const withGenerated = (file: string, document: string, parts: Readonly<Record<string, () => string>>): string =>
  Object.entries(parts).reduce((text, [name, part]) => {
    const [begin, end] = [`<!-- ${name}: generated -->\n`, `<!-- /${name} -->`];
    const [from, to] = [text.indexOf(begin), text.indexOf(end)];
    if (from < 0 || to < from) throw new Error(`${file} has no ${begin.trim()} with ${end} after it`);
    return `${text.slice(0, from + begin.length)}${part()}\n${text.slice(to)}`;
  }, document);

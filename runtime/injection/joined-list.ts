/** Joins lists that several parties share: LD_PRELOAD and the autoscaler's volumes. */

export function join(text: string | undefined, entry: string, separator: string): string {
  if (text === undefined || text === '') return entry;
  return includes(text, entry) ? text : `${text}${separator}${entry}`;
}

/** Returns the text without the operator's entry; undefined if no other entry is left. */
export function part(text: string, entry: string): string | undefined {
  let rest = '';
  let from = 0;
  for (const at of getPlaces(text, entry)) {
    rest += withoutEnd(text.slice(from, at));
    from = at + entry.length;
  }
  rest += text.slice(from);
  if (isWhole(text, 0, entry) && text.startsWith(entry)) rest = rest.slice(rest.search(NO_SEPARATOR));
  return NO_SEPARATOR.test(rest) ? rest : undefined;
}

export const includes = (text: string | undefined, entry: string): boolean => getPlaces(text ?? '', entry).length > 0;

/** The dynamic loader separates entries by colons and spaces, the autoscaler by commas. */
const NO_SEPARATOR = /[^:,\s]/;

/** Searches without splitting, because a client can send megabytes. */
function getPlaces(text: string, entry: string): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(entry); at >= 0; at = text.indexOf(entry, at + entry.length))
    if (isWhole(text, at, entry)) places.push(at);
  return places;
}

const isWhole = (text: string, at: number, entry: string): boolean =>
  isBorder(text[at - 1]) && isBorder(text[at + entry.length]);

const isBorder = (character: string | undefined): boolean => character === undefined || !NO_SEPARATOR.test(character);

function withoutEnd(text: string): string {
  let end = text.length;
  while (end > 0 && isBorder(text[end - 1])) end -= 1;
  return text.slice(0, end);
}

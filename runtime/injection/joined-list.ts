/**
 * Values that hold a list of entries in one text, which several parties share: LD_PRELOAD, the autoscaler's volumes.
 * An entry of ours is appended; the user's stay as they were written.
 */

/** The text with our entry at its end, once. */
export function join(text: string | undefined, entry: string, separator: string): string {
  if (text === undefined || text === '') return entry;
  return entries(text).includes(entry) ? text : `${text}${separator}${entry}`;
}

/** The text without our entry, the rest as it was written; undefined when nothing else is in it. */
export function part(text: string, entry: string): string | undefined {
  // Entries stand at even places, what separates them at odd ones.
  const left: string[] = [];
  text.split(SEPARATORS).forEach((piece, index, pieces) => {
    if (index % 2 === 0 && piece !== entry) left.push(...(left.length === 0 ? [] : [pieces[index - 1] ?? '']), piece);
  });
  const rest = left.join('');
  return entries(rest).length === 0 ? undefined : rest;
}

/** Whether our entry is in the text. */
export const includes = (text: string | undefined, entry: string): boolean => entries(text ?? '').includes(entry);

/** The loader takes colons and spaces, the autoscaler commas. */
const SEPARATORS = /([:,\s]+)/;

const entries = (text: string): string[] =>
  text.split(SEPARATORS).filter((piece, index) => index % 2 === 0 && piece !== '');

/**
 * Values that hold a list of entries in one text, which several parties share: LD_PRELOAD, the autoscaler's volumes.
 * An entry of ours is appended; the user's stay as they were written.
 */

/** The text with our entry at its end, once. */
export function join(text: string | undefined, entry: string, separator: string): string {
  if (text === undefined || text === '') return entry;
  return entries(text).includes(entry) ? text : `${text}${separator}${entry}`;
}

/** The text without our entry; undefined when nothing else is in it. */
export function part(text: string, entry: string, separator: string): string | undefined {
  const rest = entries(text).filter((each) => each !== entry);
  return rest.length === 0 ? undefined : rest.join(separator);
}

/** The loader takes colons and spaces, the autoscaler commas. */
const entries = (text: string): string[] => text.split(/[:,\s]+/).filter((each) => each !== '');

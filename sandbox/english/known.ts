/** The files that do not pass yet, with a number of findings each. The numbers may only fall. */
export type Counts = ReadonlyMap<string, number>;

/** Reads the list. A merge may leave two lines of one file: the higher number counts. */
export const parseKnown = (list: string): Counts =>
  list.split('\n').reduce((counts, line) => {
    const [, count, file] = /^(\d+) (\S+)$/.exec(line) ?? [];
    if (file === undefined) return counts;
    return counts.set(file, Math.max(Number(count), counts.get(file) ?? 0));
  }, new Map<string, number>());

export const formatKnown = (counts: Counts): string =>
  [...counts]
    .filter(([, count]) => count > 0)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([file, count]) => `${count} ${file}\n`)
    .join('');

/** Returns the list with each number that fell. It raises none and adds no file. */
export const lowered = (known: Counts, counts: Counts): Counts =>
  new Map([...known].map(([file, count]) => [file, Math.min(count, counts.get(file) ?? 0)]));

export const overdrawn = (known: Counts, counts: Counts): readonly string[] =>
  [...counts].filter(([file, count]) => count > (known.get(file) ?? 0)).map(([file]) => file);

/** Returns the files with fewer findings than the list has, deleted files included. */
export const outdated = (known: Counts, counts: Counts): readonly string[] =>
  [...known].filter(([file, count]) => count > (counts.get(file) ?? 0)).map(([file]) => file);

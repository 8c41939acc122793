import { injector } from '../contract.ts';

/** A text that holds a list which several parties share, and our entry in it. */
export interface JoinedList {
  readonly entry: string;
  /** What is written between the user's entries and ours. */
  readonly separator: string;
  /** What counts as standing between two entries; in a capturing group, so that the rest can stay as it was written. */
  readonly between: RegExp;
}

/** LD_PRELOAD: the loader takes colons and white space alike (ld.so(8)). */
export const preloads: JoinedList = { entry: injector.preload, separator: ':', between: /([:\s]+)/ };

/** The cluster autoscaler's annotation of volumes that may go with their node: it splits at commas and trims nothing. */
export const safeVolumes: JoinedList = { entry: injector.volume, separator: ',', between: /(,)/ };

export const includesEntry = (text: string | undefined, { entry, between }: JoinedList): boolean =>
  text?.split(between).includes(entry) === true;

/** The text with our entry in it: at its end, unless it is there already. */
export function join(text: string | undefined, list: JoinedList): string {
  if (text === undefined || text === '') return list.entry;
  return includesEntry(text, list) ? text : `${text}${list.separator}${list.entry}`;
}

/** The text without our entry, otherwise as it was written; undefined when our entry was all there was. */
export function part(text: string, { entry, between }: JoinedList): string | undefined {
  const pieces = text.split(between);
  let rest: string | undefined;
  let parted = false;
  for (let index = 0; index < pieces.length; index += 2) {
    const piece = pieces[index] ?? '';
    const separator = pieces[index - 1] ?? '';
    if (piece === entry) parted = true;
    else rest = rest === undefined ? (parted ? piece : separator + piece) : rest + separator + piece;
  }
  return parted && rest === '' ? undefined : rest;
}

/** The inverse of `join`: the user's own text where it still is as it was joined, else what is there without our entry. */
export const separate = (text: string, own: string | undefined, list: JoinedList): string | undefined =>
  text === join(own, list) ? own : part(text, list);

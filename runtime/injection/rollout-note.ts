import { annotations, labels } from '../contract.ts';
import { isMap, withEntry, withoutEmpty } from './lists.ts';
import type { Metadata, RolloutNote } from './types.ts';

export type { RolloutNote } from './types.ts';

const texts = ['at', 'cause', 'evidence', 'template', 'injection'] as const;
/** Anybody can write an annotation, and what it says is shown at the Lumigo: a condition holds 32 KB. */
const LONGEST = 1_000;
const isText = (value: unknown): boolean => typeof value === 'string' && value.length <= LONGEST;

/** Reads the annotation's text; undefined for none, or one that is not ours. */
export function parseNote(text: string | undefined): RolloutNote | undefined {
  if (text === undefined) return undefined;
  try {
    const found: unknown = JSON.parse(text);
    const isNote = isMap(found) && texts.every((key) => isText(found[key])) && isText(found['retry'] ?? '');
    return isNote ? (found as unknown as RolloutNote) : undefined;
  } catch {
    return undefined;
  }
}

/** The note that stands on a workload; undefined where there is none. */
export const noteOf = ({ annotations: found }: Metadata): RolloutNote | undefined =>
  parseNote(found?.[annotations.rollout]);

/** The same metadata with the note, and with the label by which people find it. */
export const withNote = (metadata: Metadata, note: RolloutNote): Metadata => ({
  ...metadata,
  labels: { ...metadata.labels, [labels.rollout]: 'reverted' },
  annotations: { ...metadata.annotations, [annotations.rollout]: JSON.stringify(note) },
});

/** The exact inverse of `withNote`. */
export function withoutNote(metadata: Metadata): Metadata {
  if (metadata.annotations?.[annotations.rollout] === undefined) return metadata;
  const own = {
    labels: withEntry(metadata.labels, labels.rollout, undefined),
    annotations: withEntry(metadata.annotations, annotations.rollout, undefined),
  };
  return withoutEmpty({ ...metadata, ...own }, ['labels', 'annotations']);
}

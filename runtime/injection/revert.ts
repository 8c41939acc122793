import { annotations, labels } from '../contract.ts';
import { withEntry, withoutEmpty } from '../json/values.ts';
import type { Metadata } from '../api/objects.ts';

/** Why an injection was removed, and for which program that holds: the other form of the operator's annotation (stamp.ts). */
export interface Revert {
  /** ISO 8601. */
  readonly at: string;
  /** In one word, e.g. `InjectorImage` (rollout/evidence.ts). */
  readonly cause: string;
  /** How often an injection of this program was removed (1: the first time). */
  readonly attempt: number;
  /** The program and the injector, as `revertKey` returns them (decide-revert.ts). */
  readonly key: string;
  /** A sentence: container, reason, exit code, last output. */
  readonly evidence: string;
}

/** In characters: a tenant can write the annotation, and the Lumigo resource shows its text. */
const MAX_EVIDENCE = 800;
const FORM = new RegExp(
  `^reverted (\\S{1,40}) by controller; cause=([A-Za-z]{1,30}) attempt=(\\d{1,4}) key=([0-9a-f]{16}): (.{0,${MAX_EVIDENCE}})$`,
  's',
);

const writeRevert = ({ at, cause, attempt, key, evidence }: Revert): string =>
  `reverted ${at} by controller; cause=${cause} attempt=${attempt} key=${key}: ${evidence.slice(0, MAX_EVIDENCE)}`;

/** Reads the annotation's text; undefined for none, and for one of another form. */
export function parseRevert(text: string | undefined): Revert | undefined {
  const [, at, cause, attempt, key, evidence] = FORM.exec(text ?? '') ?? [];
  if (at === undefined || cause === undefined || key === undefined || evidence === undefined) return undefined;
  return { at, cause, attempt: Math.max(1, Number(attempt)), key, evidence };
}

/** Returns why the injection of a workload was removed; undefined where it was not. */
export const revertOf = ({ annotations: found }: Metadata): Revert | undefined =>
  parseRevert(found?.[annotations.instrumentation]);

/** Returns the same metadata with the reason, and with the label by which people find reverted workloads. */
export const withRevert = (metadata: Metadata, revert: Revert): Metadata => ({
  ...metadata,
  labels: { ...metadata.labels, [labels.rollout]: 'reverted' },
  annotations: { ...metadata.annotations, [annotations.instrumentation]: writeRevert(revert) },
});

/** The exact inverse of `withRevert`. */
export function withoutRevert(metadata: Metadata): Metadata {
  if (revertOf(metadata) === undefined) return metadata;
  const own = {
    labels: withEntry(metadata.labels, labels.rollout, undefined),
    annotations: withEntry(metadata.annotations, annotations.instrumentation, undefined),
  };
  return withoutEmpty({ ...metadata, ...own }, ['labels', 'annotations']);
}

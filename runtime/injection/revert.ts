import { annotations, labels } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';

/** Why an injection was removed, for which program: the second form of the annotation in injection-status.ts. */
export interface Revert {
  readonly at: string;
  /** One word, such as `InjectorImage` (rollout/evidence.ts). */
  readonly cause: string;
  readonly attempt: number;
  readonly key: string;
  /** A sentence with container, reason, exit code and last output. */
  readonly evidence: string;
}

/** The delay before the next attempt, by the number of reverted attempts. */
const RETRY_MS = [10 * 60_000, 3_600_000, 6 * 3_600_000];
export const retryDelayMs = (attempt: number): number => RETRY_MS[attempt - 1] ?? 24 * 3_600_000;

/** Characters. A tenant can write the annotation, and the `Lumigo` resource shows its text. */
const MAX_EVIDENCE = 800;
const FORM = new RegExp(
  `^reverted (?<at>\\S{1,40}) by controller; cause=(?<cause>[A-Za-z]{1,30}) attempt=(?<attempt>\\d{1,4}) key=(?<key>[0-9a-f]{16}): (?<evidence>.{0,${MAX_EVIDENCE}})$`,
  's',
);

const writeRevert = ({ at, cause, attempt, key, evidence }: Revert): string =>
  `reverted ${at} by controller; cause=${cause} attempt=${attempt} key=${key}: ${evidence.slice(0, MAX_EVIDENCE)}`;

export function parseRevert(text: string | undefined): Revert | undefined {
  const found = FORM.exec(text ?? '')?.groups as Record<keyof Revert, string> | undefined;
  return found && { ...found, attempt: Math.max(1, Number(found.attempt)) };
}

export const findRevert = ({ annotations: found }: Metadata): Revert | undefined =>
  parseRevert(found?.[annotations.instrumentation]);

export const withRevert = (metadata: Metadata, revert: Revert): Metadata => ({
  ...metadata,
  labels: { ...metadata.labels, [labels.rollout]: 'reverted' },
  annotations: { ...metadata.annotations, [annotations.instrumentation]: writeRevert(revert) },
});

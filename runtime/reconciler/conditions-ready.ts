import type { Condition, Problem } from '../api/lumigo.ts';
import type { Metadata } from '../api/objects.ts';
import { condition, type Untimed } from './conditions-rollout.ts';

export interface ReadyInput {
  readonly metadata: Pick<Metadata, 'generation' | 'deletionTimestamp'>;
  readonly problem: Problem | undefined;
  /** The types of the conditions that must be True for `Ready`. */
  readonly needed: readonly Needed[];
  /** ISO 8601. */
  readonly now: string;
}
/** The conditions of the present status, by type. */
export type Known = ReadonlyMap<string, Condition>;

const READY = 'Ready';
/** `Reconciling` and `Stalled` exist only while they are True, as in kstatus. */
const RECONCILING = 'Reconciling';
const STALLED = 'Stalled';

/** The maximum wait for a first result. It may never come, for example if Lumigo's endpoint is down. */
const MAX_CHECKING_MS = 30_000;

/** Waiting does not solve these problems. A missing Secret may still be created, and a webhook may still start. */
const stalling: readonly string[] = [
  'DuplicateLumigo',
  'NamespaceExcluded',
  'PodModeOff',
  'SecretReferenceMissing',
  'SecretTooLarge',
  'TokenMalformed',
  'TokenRefused',
];

const checks = {
  TokenAccepted: "Lumigo's answer about the token",
  WebhookReachable: 'a probe of the webhook',
  PodPolicyInstalled: 'a look at the policy of Pod mode',
} as const;

type Needed = keyof typeof checks;

const WORKS = 'Lumigo works in this namespace';

/** Returns `Ready`, and `Reconciling` or `Stalled` if true (docs/contributing/adr/0043-ready.md). */
export function getReadyConditions(input: ReadyInput, conditions: readonly Untimed[], known: Known): Untimed[] {
  const { problem, needed } = input;
  const { deletionTimestamp, generation } = input.metadata;
  if (deletionTimestamp !== undefined) return [condition(READY, 'False', deleting)];
  const current = conditions.filter(({ observedGeneration = generation }) => observedGeneration === generation);
  const results = needed.map((type) => ({ type, result: current.find((each) => each.type === type) }));
  const failed = problem ?? results.find(({ result }) => result?.status === 'False')?.result;
  const stalled = failed && stalling.includes(failed.reason) ? [condition(STALLED, 'True', failed)] : [];
  if (failed !== undefined) return [condition(READY, 'False', failed), ...stalled];
  const missing = results.filter(({ result }) => result === undefined).map(({ type }) => checks[type]);
  return missing.length === 0
    ? [condition(READY, 'True', works(WORKS))]
    : whileChecking(input, missing.join(' and '), known);
}

/** `Ready` stays True with the earlier generation while a new spec is checked, so it does not flap. */
function whileChecking({ metadata, now }: ReadyInput, missing: string, known: Known): Untimed[] {
  const before = known.get(READY);
  const checking: Problem = { reason: 'Checking', message: `Waiting for ${missing}` };
  const isConfirmed = before?.status === 'True' && before.observedGeneration === metadata.generation;
  if (isConfirmed || getCheckingMs(known.get(RECONCILING), now) === 0)
    return [condition(READY, 'True', works(`${WORKS}. There is no result yet of ${missing}`))];
  return [
    before?.status === 'True' ? before : condition(READY, 'Unknown', checking),
    condition(RECONCILING, 'True', checking),
  ];
}

/** Returns for how long `Ready` still waits for results, in milliseconds; Infinity if it does not wait. */
export function getWaitMs(conditions: readonly Condition[] = [], now: string): number {
  const reconciling = conditions.find(({ type }) => type === RECONCILING);
  return reconciling === undefined ? Infinity : getCheckingMs(reconciling, now);
}

const getCheckingMs = (reconciling: Condition | undefined, now: string): number =>
  Math.max(0, Date.parse(reconciling?.lastTransitionTime ?? now) + MAX_CHECKING_MS - Date.parse(now));

const deleting: Problem = { reason: 'Deleting', message: 'This Lumigo resource is being deleted' };
const works = (message: string): Problem => ({ reason: 'Ready', message });

import { isBlocked } from '../injection/decision.ts';
import type { PatchOperation } from '../api/objects.ts';
import { abridged } from '../wording/abridged.ts';
import type { Verdict } from './verdict.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { getBatches, hasPodsToJudge, inOrder } from '../rollout/batches.ts';
import { blockedTexts } from '../rollout/workload-state.ts';

const VALUE_WIDTH = 140;

export type Outlook = 'instrument' | 'update' | 'relabel' | 'remove' | 'untouched' | 'CANNOT' | 'REFUSED';

const outlooks = { add: 'instrument', update: 'update', remove: 'remove', nothing: 'relabel' } as const;

export function outlook({ decision, patch, refusal }: Verdict): Outlook {
  if (refusal !== undefined) return 'REFUSED';
  if (isBlocked(decision)) return 'CANNOT';
  return patch.length === 0 ? 'untouched' : outlooks[decision.tried];
}

/** `lumigo preview -o json` prints this. */
export type NamespacePreview = ReturnType<typeof toPreview>;

export const toPreview = (namespace: string, policy: string, verdicts: readonly Verdict[], pace: Pace) => ({
  namespace,
  policy,
  workloads: verdicts.map((verdict) => ({
    kind: verdict.kind.kind,
    name: verdict.name,
    outlook: outlook(verdict),
    message: verdict.decision.message,
    patch: verdict.patch,
    refusal: verdict.refusal,
    untried: verdict.untried,
    warnings: verdict.warnings,
  })),
  rollout: renderRollout(verdicts, pace),
});

export const renderPreview = (previews: readonly NamespacePreview[]): string =>
  previews.map(renderNamespace).join('\n');

function renderNamespace({ namespace, policy, workloads, rollout }: NamespacePreview): string {
  const width = Math.max(0, ...workloads.map(({ kind, name }) => `${kind}/${name}`.length));
  const lines = workloads.flatMap(({ kind, name, outlook, message, patch, refusal, untried, warnings }) => [
    `  ${`${kind}/${name}`.padEnd(width)}  ${outlook.padEnd(10)}  ${message}`,
    ...patch.map((operation) => `    ${renderOperation(operation)}`),
    ...(patch.length === 0 ? [] : [`    = ${untried === true ? UNTRIED : describeAnswer(refusal)}`]),
    ...warnings.map((text) => `    ! ${text}`),
  ]);
  const empty = workloads.length === 0 ? ['  (no workloads)'] : [];
  return [`Namespace ${namespace}: ${policy}`, ...lines, ...empty, ...rollout, ''].join('\n');
}

export const UNTRIED = 'your account may not try the change';
const describeAnswer = (refusal: string | undefined): string =>
  `the API server ${refusal === undefined ? 'accepts it' : `refuses it: ${refusal}`}`;

const signs = { add: '+', replace: '~', remove: '-', test: '?' } as const;

function renderOperation(operation: PatchOperation): string {
  const value = operation.op === 'remove' ? '' : ` ${JSON.stringify(operation.value)}`;
  const short = value.length > VALUE_WIDTH ? `${value.slice(0, VALUE_WIDTH)}…` : value;
  return `${signs[operation.op]} ${operation.path}${short}`;
}

export type Pace = Pick<RuntimeConfig, 'rolloutStrategy' | 'rolloutSoakSeconds' | 'rolloutLargestBatch'>;

/** The assumed time until pods are ready. */
const START_SECONDS = 10;
const MAX_NAMES_SHOWN = 5;

/** Returns nothing if no pod restarts, now or later. */
export function renderRollout(verdicts: readonly Verdict[], pace: Pace): string[] {
  const changing = verdicts.filter(
    (each) => hasPodsToJudge(each.risk) && ['instrument', 'update'].includes(outlook(each)),
  );
  if (changing.length === 0) return [];
  if (pace.rolloutStrategy === 'immediate') return [`  Rollout (immediate): ${changing.length} whose pods restart`];
  const ready = inOrder(changing.filter(({ blocked }) => blocked === undefined));
  const names = ready.map(({ kind, name }) => `${kind.kind}/${name}`);
  const batches = getBatches(names.length, pace.rolloutLargestBatch);
  const seconds = batches.length * (START_SECONDS + pace.rolloutSoakSeconds);
  const lines = batches.map((size, index) => `    ${index + 1}. ${abridged(names.splice(0, size), MAX_NAMES_SHOWN)}`);
  const later = changing.flatMap(({ kind, name, blocked }) =>
    blocked === undefined ? [] : [`    later: ${kind.kind}/${name} ${blockedTexts[blocked]}`],
  );
  const duration = batches.length === 0 ? '' : `, about ${seconds} s if pods start within ${START_SECONDS} s`;
  return [`  Rollout${duration}:`, ...lines, ...later];
}

import { workloads as kinds, type WorkloadKind } from '../contract.ts';
import type { InstrumentedResource, LumigoResource, LumigoStatus, Problem } from '../api/lumigo.ts';
import { findDifference, getStatus, identity, sameList, shownFields } from './conditions.ts';
import type { Now, ObservedLumigo, ObservedNamespace, ObservedWorkload } from './observed.ts';
import { isInstrumented } from './observed.ts';
import { getWaitMs, type ReadyInput } from './conditions-ready.ts';
import { noRollout } from './plan-rollout.ts';
import { noTelemetry, type TelemetrySummary } from './plan-telemetry.ts';
import { noProgress, type WorkloadsPlan } from './plan-workloads.ts';

export type LumigoAction = { readonly lumigo: LumigoResource } &
  /** `adopt`: an earlier leader may have left a list. */
  (
    | { readonly kind: 'adopt' | 'add-finalizer' }
    | { readonly kind: 'remove-finalizer'; readonly reason: string; readonly leftBehind: readonly ObservedWorkload[] }
    /** `repeats`: consecutive earlier writes of the same status, which another writer changed. */
    | Readonly<{ kind: 'write-status'; status: LumigoStatus; withList: boolean; repeats: number }>
  );

export interface LumigoContext {
  readonly observed: ObservedNamespace;
  readonly effective: ObservedLumigo | undefined;
  readonly workloads: WorkloadsPlan;
  readonly isListDue: boolean;
  readonly received: TelemetrySummary;
  readonly now: Now;
}

export interface PlannedAction {
  readonly action?: LumigoAction;
  readonly wakeAt: number;
}

const STATUS_MS = 1_000;
/** The longest wait before the same status is written again over another writer's. It doubles each time. */
const CONTEST_MAX_MS = 5 * 60_000;
const CONTEST_CALM_MS = 2 * CONTEST_MAX_MS;
/** Limits progress reports to ten per second. For a hundred namespaces they were a fourth of all requests. */
const SHARE_MS = 100;
/** The time between two lists that differ only in states, because the list is the large part of a status. */
const LIST_MS = 10_000;

export function planStatus(lumigo: ObservedLumigo, context: LumigoContext): PlannedAction {
  const { resource, listed = [], statusAt } = lumigo;
  const { effective, isListDue, observed, now } = context;
  if (lumigo === effective && isSecretAwaited(resource, observed)) return { wakeAt: Infinity };
  const { wakeAt, withList, instrumented } = planList(lumigo, context);
  const input = { metadata: resource.metadata, problem: findProblem(resource, context), instrumented, now: now.iso };
  const needed = getNeeded(resource);
  const status = getStatus({ ...input, needed, ...getSeen(lumigo, context) }, resource.status);
  const difference = findDifference({ ...resource.status, instrumentedResources: listed }, status);
  if (difference === undefined) return { wakeAt: Math.min(wakeAt, now.ms + getWaitMs(status.conditions, now.iso)) };
  const repeats = countRepeats(lumigo, status, withList, now);
  const shareMs = isListDue || difference === 'state' ? STATUS_MS : SHARE_MS * observed.underWay;
  const contestMs = Math.min(CONTEST_MAX_MS, STATUS_MS * 2 ** (repeats - 1));
  const dueAt = statusAt + Math.max(STATUS_MS, shareMs, contestMs);
  if (dueAt > now.ms) return { wakeAt: Math.min(dueAt, wakeAt) };
  return { action: { kind: 'write-status', lumigo: resource, status, withList, repeats }, wakeAt: Infinity };
}

function countRepeats(lumigo: ObservedLumigo, status: LumigoStatus, withList: boolean, now: Now): number {
  const { lastStatus, repeats = 0, statusAt } = lumigo;
  if (lastStatus === undefined || now.ms - statusAt >= CONTEST_CALM_MS) return 0;
  const isRepeated = ['list', undefined].includes(findDifference(lastStatus, status));
  return !isRepeated || (withList && (status.instrumentedResources ?? []).length > 0) ? 0 : repeats + 1;
}

/** Returns the new list if it must be written now, otherwise the present one and when to write. */
function planList(lumigo: ObservedLumigo, { effective, observed, workloads, isListDue, now }: LumigoContext) {
  const { listed = [], listedAt } = lumigo;
  const asListed = { instrumented: listed, withList: false, wakeAt: Infinity };
  // A removal needs the list at once. Otherwise it waits for changes and events.
  const { pending, rechecked } = workloads.progress;
  const isWorthIt = isListDue || Math.max(pending, rechecked, observed.pendingEvents) === 0;
  if (lumigo !== effective || !isWorthIt) return asListed;
  const instrumented = listInstrumented(observed.workloads);
  const isNew = instrumented.length === 0 || !sameList(listed, instrumented, identity);
  if (!isNew && sameList(listed, instrumented, shownFields)) return asListed;
  const dueAt = isNew ? 0 : listedAt + LIST_MS;
  return dueAt > now.ms ? { ...asListed, wakeAt: dueAt } : { ...asListed, instrumented, withList: true };
}

function getNeeded({ spec }: LumigoResource): ReadyInput['needed'] {
  const { enabled = true, mode } = spec?.tracing?.injection ?? {};
  if (!enabled) return ['TokenAccepted'];
  return ['TokenAccepted', mode === 'Pod' ? 'PodPolicyInstalled' : 'WebhookReachable'];
}

/** The effective resource's problem is known only after its Secret is read. */
const isSecretAwaited = ({ metadata }: LumigoResource, { credential, policy }: ObservedNamespace): boolean =>
  credential === undefined && policy.kind !== 'excluded' && metadata.deletionTimestamp === undefined;

function getSeen(lumigo: ObservedLumigo, { effective, observed, workloads, received }: LumigoContext) {
  if (lumigo !== effective) return nothingSeen;
  const { webhook, telemetry, token, credential } = observed;
  const kept = lumigo.resource.status?.injector;
  // A workload that this leader has not read yet may show that the injector still fails.
  const isKept = kept?.health === 'failing' && workloads.waiting.some(isUnread);
  const report = isKept ? kept : workloads.rollout.report;
  const pods = observed.policy.kind === 'pods' ? observed.pods : undefined;
  const summary = { ...workloads.rollout.summary, pods };
  const progress = pods === undefined ? workloads.progress : { ...workloads.progress, instrumented: pods.injected };
  const secretVersion = credential?.version;
  return { progress, report, summary, secretVersion, webhook, telemetry, token, podPolicy: pods?.policy, received };
}

const isUnread = ({ injectionStatus, state, write, failure }: ObservedWorkload): boolean =>
  injectionStatus !== undefined && (state ?? write ?? failure?.refusedSince) === undefined;

const nothingSeen = { progress: noProgress, summary: noRollout, token: {}, received: noTelemetry };

function findProblem({ metadata }: LumigoResource, { observed, effective }: LumigoContext): Problem | undefined {
  const { policy, credential } = observed;
  const { namespace, uid } = metadata;
  if (policy.kind === 'excluded')
    return {
      reason: 'NamespaceExcluded',
      message: `The operator never instruments workloads in the '${namespace}' namespace; create the Lumigo resource in the namespace of your workloads`,
    };
  if (effective !== undefined && uid !== effective.resource.metadata.uid)
    return {
      reason: 'DuplicateLumigo',
      message: `The older Lumigo resource '${effective.resource.metadata.name}' is in effect for the '${namespace}' namespace; delete one of the two`,
    };
  if (policy.kind !== 'inactive' || policy.message === undefined) return credential?.problem;
  return { reason: policy.reason, message: policy.message };
}

/** About 270 KB, far below etcd's limit of 1.5 MB for an object. */
export const LISTED_RESOURCES = 1_000;

const getOrder = ({ kind }: ObservedWorkload): number => (kinds as readonly WorkloadKind[]).indexOf(kind);

export const listInstrumented = (observed: Iterable<ObservedWorkload>): InstrumentedResource[] =>
  [...observed]
    .filter((workload) => isInstrumented(workload) && !workload.deleting)
    .sort((a, b) => getOrder(a) - getOrder(b) || a.name.localeCompare(b.name))
    .slice(0, LISTED_RESOURCES)
    .map(getEntry);

const shownAs: Partial<Record<string, Pick<Required<InstrumentedResource>, 'state'>>> = {
  rolling: { state: 'RollingOut' },
  soaking: { state: 'RollingOut' },
  verified: { state: 'Verified' },
};

function getEntry({ kind: { apiVersion, kind }, name, namespace, uid, ...workload }: ObservedWorkload) {
  const { resourceVersion: seenAs, instrumentedVersion = seenAs, state, telemetry, telemetrySince } = workload;
  return {
    apiVersion,
    kind,
    name,
    namespace,
    resourceVersion: instrumentedVersion,
    uid,
    ...(state && shownAs[state.kind]),
    ...(telemetry === undefined ? {} : { telemetry }),
    ...(telemetrySince === undefined ? {} : { telemetrySince }),
  };
}

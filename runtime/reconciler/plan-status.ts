import { workloads, type WorkloadKind } from '../contract.ts';
import type {
  InstrumentedResource,
  LumigoResource,
  LumigoStatus,
  NamespacePolicy,
  Problem,
} from '../injection/types.ts';
import { isSameText, sameConditions, sameResources, sameStatus, statusOf, type StatusInput } from './conditions.ts';
import {
  isInstrumented,
  type Now,
  type ObservedLumigo,
  type ObservedNamespace,
  type ObservedWorkload,
} from './observed.ts';
import { noRollout } from './plan-rollout.ts';
import { noProgress, type WorkloadsPlan } from './plan-workloads.ts';

/** One thing to be done to a Lumigo, and why. */
export type LumigoAction = { readonly lumigo: LumigoResource; readonly reason: string } & (
  | { readonly do: 'adopt' | 'add-finalizer' }
  /** `leftBehind`: what stays instrumented because it refuses. */
  | { readonly do: 'remove-finalizer'; readonly leftBehind: readonly ObservedWorkload[] }
  /** `withList`: whether the list of instrumented resources is written as well. */
  /** `repeats`: how often in a row the same was written before, each time because another writer had changed it. */
  | {
      readonly do: 'write-status';
      readonly status: LumigoStatus;
      readonly withList: boolean;
      readonly repeats: number;
    }
);

/** What the plan of a Lumigo takes into account beside itself. */
export interface LumigoContext {
  readonly observed: ObservedNamespace;
  readonly acting: ObservedLumigo | undefined;
  readonly workloads: WorkloadsPlan;
  /** Whether the list in the status has to be written before anything else happens. */
  readonly isListDue: boolean;
  readonly now: Now;
}

export interface PlannedAction {
  readonly action?: LumigoAction;
  readonly wakeAt: number;
}

/** Minimum time between two writes of one status. */
const STATUS_MS = 1_000;
/** Longest wait before the same status is written again over that of another writer, which doubles each time. */
const CONTEST_MAX_MS = 5 * 60_000;
/** A contest is over if a status stays as written for this time. */
const CONTEST_CALM_MS = 2 * CONTEST_MAX_MS;
/** And of all namespaces that are under way ten a second are told of: a hundred took a fourth of all requests for that. */
const SHARE_MS = 100;
/** The list is the one large part of a status: that only states in it differ is written so often at the most. */
const LIST_MS = 10_000;

/** What the status of a Lumigo should say by now, where it says something else. */
export function planStatus(lumigo: ObservedLumigo, context: LumigoContext): PlannedAction {
  const { acting, isListDue, now } = context;
  const { resource, listed = [], statusAt } = lumigo;
  const acts = lumigo === acting;
  if (!canBeSaid(lumigo, context)) return { wakeAt: Infinity };
  const { metadata } = resource;
  const problem = problemOf(resource, context);
  const isAsked = acts && isListWorthIt(context);
  const { instrumented, withList, wakeAt } = isAsked ? listDue(lumigo, context) : unlisted(listed);
  const seen = acts ? seenOf(lumigo, context) : nothingSeen;
  const status = statusOf({ metadata, problem, instrumented, now: now.iso, ...seen }, resource.status);
  const current = { ...resource.status, instrumentedResources: listed };
  if (sameStatus(current, status)) return { wakeAt };
  const repeats = repeatsOf(lumigo, status, withList, now);
  const intervalMs = isListDue || !sameConditions(current, status) ? STATUS_MS : intervalOf(context);
  const dueAt = statusAt + Math.max(intervalMs, contestMs(repeats));
  if (dueAt > now.ms) return { wakeAt: Math.min(dueAt, wakeAt) };
  const reason = 'the status is out of date';
  return { action: { do: 'write-status', lumigo: resource, status, withList, repeats, reason }, wakeAt: Infinity };
}

/** The same status is due again only if another writer has changed it since, or if its list is another. */
function repeatsOf(lumigo: ObservedLumigo, status: LumigoStatus, withList: boolean, now: Now): number {
  const { said, repeats = 0, statusAt } = lumigo;
  if (said === undefined || !isSameText(said, status) || now.ms - statusAt >= CONTEST_CALM_MS) return 0;
  return withList && (status.instrumentedResources ?? []).length > 0 ? 0 : repeats + 1;
}

const contestMs = (repeats: number): number =>
  repeats === 0 ? 0 : Math.min(CONTEST_MAX_MS, STATUS_MS * 2 ** (repeats - 1));

const intervalOf = ({ observed }: LumigoContext): number => Math.max(STATUS_MS, SHARE_MS * observed.underWay);

interface List {
  readonly instrumented: readonly InstrumentedResource[];
  /** Whether it is to be written. */
  readonly withList: boolean;
  /** When it is, should nothing be seen before. */
  readonly wakeAt: number;
}

const unlisted = (instrumented: List['instrumented'], wakeAt = Infinity): List => ({
  ...{ instrumented, withList: false, wakeAt },
});

/** The list as it should be, or as it is where it says enough. */
function listDue({ listed = [], listedAt }: ObservedLumigo, { observed, now }: LumigoContext): List {
  const instrumented = listInstrumented(observed.workloads);
  const isNew = instrumented.length === 0 || !sameResources(listed, instrumented);
  const isSame = instrumented.every(({ state }, index) => state === listed[index]?.state);
  if (!isNew && isSame) return unlisted(listed);
  const dueAt = isNew ? 0 : listedAt + LIST_MS;
  return dueAt > now.ms ? unlisted(listed, dueAt) : { instrumented, withList: true, wakeAt: Infinity };
}

/** It is written where nothing is under way and all that was done is told, or where it is due. */
const isListWorthIt = ({ workloads, observed, isListDue }: LumigoContext): boolean =>
  isListDue || (workloads.progress.pending === 0 && observed.untold === 0);

/** Without having read its Secret nothing can be said of a Lumigo that is to act. */
const canBeSaid = (lumigo: ObservedLumigo, { observed, acting }: LumigoContext): boolean =>
  lumigo !== acting ||
  observed.credential !== undefined ||
  observed.policy.state === 'excluded' ||
  lumigo.resource.metadata.deletionTimestamp !== undefined;

type Seen = Pick<StatusInput, 'progress' | 'rollout' | 'report' | 'secretVersion' | 'webhook' | 'telemetry' | 'token'>;

const seenOf = ({ dropsSecretVersion }: ObservedLumigo, { observed, workloads }: LumigoContext): Seen => ({
  progress: workloads.progress,
  rollout: workloads.rollout.summary,
  report: workloads.rollout.report,
  secretVersion: dropsSecretVersion ? undefined : observed.credential?.version,
  webhook: observed.webhook,
  telemetry: observed.telemetry,
  token: observed.token,
});

/** One that does not act is told nothing of the namespace. */
const nothingSeen: Seen = {
  ...{ progress: noProgress, rollout: noRollout, report: undefined },
  ...{ secretVersion: undefined, webhook: undefined, telemetry: undefined, token: {} },
};

/** What keeps a Lumigo from acting, if anything. */
function problemOf({ metadata }: LumigoResource, { observed, acting }: LumigoContext): Problem | undefined {
  const { namespace, uid } = metadata;
  if (observed.policy.state === 'excluded')
    return {
      reason: 'NamespaceExcluded',
      message: `The operator never instruments workloads in the '${namespace}' namespace; create the Lumigo resource in the namespace of your workloads`,
    };
  if (acting === undefined || uid === acting.resource.metadata.uid)
    return settingMissing(observed.policy) ?? observed.credential?.problem;
  return {
    reason: 'DuplicateLumigo',
    message: `The older Lumigo resource '${acting.resource.metadata.name}' is in effect for the '${namespace}' namespace; delete one of the two`,
  };
}

/** What it asks for is not part of this installation. */
const settingMissing = (policy: NamespacePolicy): Problem | undefined =>
  policy.state === 'inactive' && policy.needs !== undefined
    ? {
        reason: policy.reason,
        message: `This installation does not offer Pod mode (spec.tracing.injection.mode: Pod); turn it on with the setting '${policy.needs}: true' of the operator, or use the mode Workload`,
      }
    : undefined;

/** How many instrumented resources a status lists: some 270 KB, far below etcd's 1.5 MB for an object. */
export const LISTED_RESOURCES = 1_000;

const kindOrder: readonly WorkloadKind[] = workloads;

/** What a Lumigo's status lists of its namespace: sorted by kind and name, the first `LISTED_RESOURCES` of them. */
export const listInstrumented = (observed: Iterable<ObservedWorkload>): InstrumentedResource[] =>
  [...observed]
    .filter((workload) => isInstrumented(workload) && !workload.deleting)
    .sort(byKindAndName)
    .slice(0, LISTED_RESOURCES)
    .map(entryOf);

function byKindAndName(a: ObservedWorkload, b: ObservedWorkload): number {
  const byKind = kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind);
  if (byKind !== 0) return byKind;
  return a.name < b.name ? -1 : 1;
}

function entryOf({ kind, name, namespace, uid, ...workload }: ObservedWorkload): InstrumentedResource {
  const { resourceVersion, instrumentedVersion = resourceVersion } = workload;
  const state = stateOf(workload);
  return {
    ...{ apiVersion: kind.apiVersion, kind: kind.kind, name, namespace, resourceVersion: instrumentedVersion, uid },
    ...(state === undefined ? {} : { state }),
  };
}

function stateOf({ state }: Pick<ObservedWorkload, 'state'>): InstrumentedResource['state'] {
  if (state?.kind === 'rolling' || state?.kind === 'soaking') return 'RollingOut';
  return state?.kind === 'verified' ? 'Verified' : undefined;
}

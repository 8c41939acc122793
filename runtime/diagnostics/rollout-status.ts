import type { InjectionConfig } from '../config/config.ts';
import type { WorkloadKind } from '../contract.ts';
import type { Decision } from '../injection/decision.ts';
import { findRevert } from '../injection/revert.ts';
import { getInjectionStatus } from '../injection/injection-status.ts';
import { hasInjection } from '../injection/remove.ts';
import { isOriginals } from '../injection/standing.ts';
import type { Condition, LumigoResource } from '../api/lumigo.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { mapAt } from '../json/values.ts';
import { findCondition, getCompletion, findPodCounts, type Completion } from '../rollout/completion.ts';
import { blockedTexts } from '../rollout/workload-state.ts';
import { describePolicy, listLumigoes, toStore, workloadsIn, type ReadOptions } from './preview.ts';
import { renderTable, type Paint, type Tone } from './table.ts';
import { decisionOn, whyLater } from './verdict.ts';

interface WorkloadStatus {
  readonly kind: string;
  readonly name: string;
  readonly state: keyof typeof tones;
  /** Available and wanted pods, e.g. `2/3`; empty if a change replaces none. */
  readonly pods: string;
  readonly details: string;
}

/** `lumigo status -o json` prints this. */
export interface NamespaceStatus {
  readonly namespace: string;
  readonly policy: string;
  readonly conditions: readonly Condition[];
  readonly workloads: readonly WorkloadStatus[];
  /** True if nothing changes any more without a new cause. */
  readonly isComplete: boolean;
}

interface StatusInput {
  readonly namespace: string;
  readonly config: InjectionConfig;
  readonly lumigoes: readonly LumigoResource[];
  readonly workloads: readonly { readonly kind: WorkloadKind; readonly workload: Workload }[];
}

type Listing = StatusInput['workloads'][number];

export async function readStatus(options: ReadOptions & { readonly namespace: string }): Promise<NamespaceStatus> {
  const lumigoes = await listLumigoes(options);
  const workloads: Listing[] = [];
  for await (const each of workloadsIn(options.namespace, options)) workloads.push(each);
  return statusOfNamespace({ ...options, lumigoes, workloads });
}

export function statusOfNamespace({ namespace, config, lumigoes, workloads }: StatusInput): NamespaceStatus {
  const store = toStore(lumigoes, config);
  const policy = store.policy(namespace);
  const uid = 'lumigo' in policy ? store.effective(namespace)?.metadata.uid : undefined;
  // The store keeps no list.
  const lumigo = lumigoes.find(({ metadata }) => metadata.uid === uid);
  const { instrumentedResources, conditions = [] } = lumigo?.status ?? {};
  const listed = new Map(instrumentedResources?.map((entry) => [entry.uid, entry.state]));
  const rows = workloads
    .map((each) => findStatus(each, policy, config, listed.get(each.workload.metadata.uid ?? '')))
    .filter((row) => row !== undefined);
  return {
    namespace,
    policy: describePolicy(policy),
    conditions,
    workloads: rows,
    isComplete: policy.kind !== 'deleting' && !isReconciling(lumigo) && isComplete(rows, conditions),
  };
}

/** Kubernetes' own rule: a status of an earlier generation, or the condition Reconciling. The original writes no generation. */
function isReconciling({ metadata, status }: Partial<LumigoResource> = {}): boolean {
  const { observedGeneration, conditions = [] } = status ?? {};
  const seen = observedGeneration ?? (conditions.length > 0 ? Infinity : 0);
  return (
    (metadata?.generation ?? 0) > seen ||
    conditions.some(({ type, status: is }) => type === 'Reconciling' && is === 'True')
  );
}

function isComplete(rows: readonly WorkloadStatus[], conditions: readonly Condition[]): boolean {
  if (rows.some((row) => row.state === 'rolling out' || row.details === blockedTexts.RollingOut)) return false;
  const rolledOut = conditions.find(({ type }) => type === 'RolledOut');
  // The operator has not reported on these yet.
  if (rolledOut === undefined) return !rows.some(({ details }) => details === QUEUED);
  return !['Progressing', 'Halted'].includes(rolledOut.reason);
}

/** Undefined: the operator does not list it, or does not judge it. */
type Listed = 'RollingOut' | 'Verified' | undefined;

/** Returns undefined for a workload that follows its owner. */
function findStatus({ kind, workload }: Listing, policy: NamespacePolicy, config: InjectionConfig, listed: Listed) {
  const completion = getCompletion(workload);
  const decision = decisionOn(kind, workload, policy, config);
  if (decision.code === 'left-to-owner') return undefined;
  const found = injectedState(workload, completion, listed) ?? uninjectedState(workload, decision, config);
  return { kind: kind.kind, name: workload.metadata.name ?? '', pods: getPods(completion, workload), ...found };
}

type Found = Pick<WorkloadStatus, 'state' | 'details'>;

/** Returns undefined for a workload that the operator has not changed. */
function injectedState(workload: Workload, completion: Completion, listed: Listed): Found | undefined {
  if (isOriginals(workload)) return { state: 'instrumented', details: 'by the original operator' };
  const { metadata } = workload;
  const revert = findRevert(metadata);
  if (revert !== undefined) return { state: 'reverted', details: `${revert.cause}: ${revert.evidence}` };
  const injectionStatus = getInjectionStatus(metadata);
  if (injectionStatus === undefined)
    return hasInjection(workload) ? { state: 'instrumented', details: 'has no record' } : undefined;
  const details = `${injectionStatus.change} ${injectionStatus.at} by the ${injectionStatus.by}`;
  if (listed === 'RollingOut' || isRolling(completion, workload)) return { state: 'rolling out', details };
  return { state: listed === 'Verified' ? 'verified' : 'instrumented', details };
}

/** The condition of a Deployment says if its new pods are expected to become available, and is False after its deadline. */
function isRolling(completion: Completion, workload: Workload): boolean {
  if (completion.kind !== 'progressing') return false;
  const { status, reason } = findCondition(mapAt(workload, 'status'), { type: 'Progressing' }) ?? {};
  return completion.isReplacing ? status !== 'False' : reason === 'ReplicaSetUpdated';
}

const QUEUED = 'is queued';

function uninjectedState(workload: Workload, decision: Decision, config: InjectionConfig): Found {
  if (decision.kind !== 'inject') return { state: 'skipped', details: decision.message };
  const later = whyLater(config, workload);
  const details = later === undefined ? QUEUED : blockedTexts[later];
  const stuck = findCondition(mapAt(workload, 'status'), { type: 'Progressing', status: 'False' });
  return { state: 'waiting', details: later === 'RollingOut' && stuck ? `${details}, which is stuck` : details };
}

function getPods(completion: Completion, workload: Workload): string {
  const pods = completion.kind === 'progressing' ? completion : findPodCounts(workload);
  return completion.kind === 'no-pods' || pods === undefined ? '' : `${pods.available}/${pods.wanted}`;
}

const tones = {
  verified: 'good',
  instrumented: 'good',
  'rolling out': 'unsure',
  waiting: 'unsure',
  reverted: 'bad',
  skipped: 'plain',
} as const satisfies Readonly<Record<string, Tone>>;

/** The policy says the same, except what the next sentences of `Active` add. */
const repeated: readonly string[] = ['Active', 'Error'];

export function renderStatus(status: NamespaceStatus, paint: Paint): string {
  const { namespace, policy, conditions, workloads: rows } = status;
  const counts = Object.keys(tones)
    .map((state) => ({ state, count: rows.filter((row) => row.state === state).length }))
    .filter(({ count }) => count > 0)
    .map(({ state, count }) => `${count} ${state}`);
  const table = rows.map(({ kind, name, state, pods, details }) => [
    `${kind}/${name}`,
    { text: state, tone: tones[state] },
    pods,
    details,
  ]);
  const { message: active = '' } = conditions.find(({ type }) => type === 'Active') ?? {};
  return [
    `Namespace ${namespace}: ${policy}${/\. .*/.exec(active.replaceAll('\n', ' '))?.[0] ?? ''}`,
    ...conditions
      .filter(({ type, status: is }) => is !== 'True' && !repeated.includes(type))
      .map(({ type, reason, message }) => `${type}: ${reason}. ${message.replaceAll('\n', ' ')}`),
    rows.length === 0 ? 'There are no workloads' : `Workloads: ${counts.join(', ')}`,
    '',
    renderTable([['WORKLOAD', 'STATE', 'PODS', 'DETAILS'], ...table], paint),
  ].join('\n');
}

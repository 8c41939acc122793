import { annotations, type WorkloadKind } from '../contract.ts';
import { decide, type Decision } from '../injection/decide.ts';
import { parseRevert } from '../injection/revert.ts';
import { getInjectionStatus } from '../injection/injection-status.ts';
import { hasInjection } from '../injection/remove.ts';
import { isOriginals } from '../injection/standing.ts';
import type { Condition, LumigoResource } from '../api/lumigo.ts';
import type { Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { getCompletion, findPodCounts, type Completion } from '../rollout/completion.ts';
import { blockedTexts, type BlockedReason } from '../rollout/workload-state.ts';
import { withoutTokens } from '../wording/token.ts';
import { describePolicy, stepFor } from './preview.ts';
import { renderTable, type Paint, type Tone } from './table.ts';
import { whyLater, type VerdictContext } from './verdict.ts';

type State = 'verified' | 'instrumented' | 'rolling out' | 'waiting' | 'reverted' | 'skipped';

export interface WorkloadStatus {
  readonly kind: string;
  readonly name: string;
  readonly state: State;
  /** Available and wanted pods, e.g. `2/3`; empty if a change replaces none. */
  readonly pods: string;
  readonly details: string;
}

/** `lumigo status -o json` prints this. */
export interface NamespaceStatus {
  readonly namespace: string;
  readonly policy: string;
  /** The original operator (v69) writes no reasons. */
  readonly conditions: readonly (Pick<Condition, 'type' | 'status' | 'message'> & Partial<Pick<Condition, 'reason'>>)[];
  readonly workloads: readonly WorkloadStatus[];
  /** True if nothing changes any more without a new cause. */
  readonly isComplete: boolean;
}

export interface StatusInput extends Pick<VerdictContext, 'injector' | 'config'> {
  readonly namespace: string;
  readonly policy: NamespacePolicy;
  readonly lumigo: LumigoResource | undefined;
  readonly workloads: readonly { readonly kind: WorkloadKind; readonly workload: Workload }[];
}

export function statusOfNamespace(input: StatusInput): NamespaceStatus {
  const { namespace, policy, lumigo, workloads: all } = input;
  const listed = new Map(lumigo?.status?.instrumentedResources?.map(({ uid, state }) => [uid, state]));
  const rows = all.flatMap(({ kind, workload }) => {
    const state = listed.get(workload.metadata.uid ?? '');
    const row = findStatus(kind, workload, { ...input, listed: state });
    return row === undefined ? [] : [row];
  });
  const conditions = (lumigo?.status?.conditions ?? []).map(({ type, status, reason, message }) => ({
    type,
    status,
    reason,
    message: withoutTokens(message),
  }));
  return {
    namespace,
    policy: describePolicy(policy),
    conditions,
    workloads: rows,
    isComplete: !isReconciling(lumigo) && isComplete(rows, conditions),
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

function isComplete(rows: readonly WorkloadStatus[], conditions: NamespaceStatus['conditions']): boolean {
  if (rows.some(({ state }) => state === 'rolling out')) return false;
  const rolledOut = conditions.find(({ type }) => type === 'RolledOut');
  // The operator has not reported on these yet.
  if (rolledOut === undefined) return !rows.some(({ state }) => state === 'waiting');
  return !['Progressing', 'Halted'].includes(rolledOut.reason ?? '');
}

interface Context extends Pick<StatusInput, 'policy' | 'injector' | 'config'> {
  readonly listed: 'RollingOut' | 'Verified' | undefined;
}

/** Returns undefined for a workload that follows its owner. */
function findStatus(kind: WorkloadKind, workload: Workload, context: Context): WorkloadStatus | undefined {
  const completion = getCompletion(workload);
  const now = new Date().toISOString();
  const { policy, injector } = context;
  const decision = decide({ workload, operation: 'RECONCILE', policy, injector, now, by: 'controller', renew: false });
  if (decision.code === 'left-to-owner') return undefined;
  const { state, details } =
    injectedState(workload, completion, context) ??
    uninjectedState(decision, whyLater(context.config, workload), stepFor(kind, workload, policy));
  const name = workload.metadata.name ?? '';
  return { kind: kind.kind, name, state, pods: getPods(completion, workload), details: withoutTokens(details) };
}

type Found = Pick<WorkloadStatus, 'state' | 'details'>;

/** Returns undefined for a workload that the operator has not changed. */
function injectedState(workload: Workload, completion: Completion, { listed }: Context): Found | undefined {
  if (isOriginals(workload)) return { state: 'instrumented', details: 'by the original operator' };
  const { metadata } = workload;
  const revert = parseRevert(metadata.annotations?.[annotations.instrumentation]);
  if (revert !== undefined) return { state: 'reverted', details: `${revert.cause}: ${revert.evidence}` };
  const injectionStatus = getInjectionStatus(metadata);
  if (injectionStatus === undefined)
    return hasInjection(workload) ? { state: 'instrumented', details: 'has no record' } : undefined;
  const state = isRolling(completion, listed) ? 'rolling out' : listed === 'Verified' ? 'verified' : 'instrumented';
  return { state, details: `${injectionStatus.change} ${injectionStatus.at} by the ${injectionStatus.by}` };
}

const isRolling = (completion: Completion, listed: Context['listed']): boolean =>
  listed === 'RollingOut' || (completion.kind === 'progressing' && (listed !== 'Verified' || completion.isReplacing));

type Step = ReturnType<typeof stepFor>;
function uninjectedState(decision: Decision, later: BlockedReason | undefined, step: Step): Found {
  if (decision.kind !== 'inject') return { state: 'skipped', details: decision.message };
  if (step.kind === 'nothing') return { state: 'skipped', details: step.reason };
  return { state: 'waiting', details: later === undefined ? 'is queued' : blockedTexts[later] };
}

function getPods(completion: Completion, workload: Workload): string {
  const pods = completion.kind === 'progressing' ? completion : findPodCounts(workload);
  return completion.kind === 'no-pods' || pods === undefined ? '' : `${pods.available}/${pods.wanted}`;
}

const tones: Readonly<Record<State, Tone>> = {
  verified: 'good',
  instrumented: 'good',
  'rolling out': 'unsure',
  waiting: 'unsure',
  reverted: 'bad',
  skipped: 'plain',
};

/** `Ready` repeats the reason of the others that it depends on. */
function notTrue(conditions: NamespaceStatus['conditions']): NamespaceStatus['conditions'] {
  const ready = conditions.find(({ type }) => type === 'Ready');
  const isRepeated = ({ type, reason = '' }: (typeof conditions)[number]) =>
    type !== 'Ready' && reason === ready?.reason;
  return conditions.filter((each) => each.status !== 'True' && each.type !== 'Error' && !isRepeated(each));
}

export function renderStatus(status: NamespaceStatus, paint: Paint): string {
  const { namespace, policy, conditions, workloads: rows } = status;
  const counts = Object.keys(tones)
    .map((state) => [state, rows.filter((row) => row.state === state).length] as const)
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${count} ${state}`);
  return [
    `Namespace ${namespace}: ${policy}`,
    ...notTrue(conditions).map(({ type, reason, message }) => `${type}: ${[reason ?? [], message].flat().join('. ')}`),
    rows.length === 0 ? 'There are no workloads' : `Workloads: ${counts.join(', ')}`,
    '',
    renderTable(
      {
        header: ['WORKLOAD', 'STATE', 'PODS', 'DETAILS'],
        rows: rows.map(({ kind, name, state, pods, details }) => [
          `${kind}/${name}`,
          { text: state, tone: tones[state] },
          pods,
          details,
        ]),
      },
      paint,
    ),
  ].join('\n');
}

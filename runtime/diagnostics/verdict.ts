import type { WorkloadKind } from '../contract.ts';
import { decide } from '../injection/decide.ts';
import type { Decision } from '../injection/decision.ts';
import { workloadPatch } from '../injection/patch.ts';
import type { PatchOperation, Workload } from '../api/objects.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { getCompletion } from '../rollout/completion.ts';
import { toInjector, type InjectionConfig } from '../config/config.ts';
import { planWorkload, whyWaits } from '../reconciler/plan-workload.ts';
import { observeWorkload } from '../reconciler/workload-store.ts';
import { blockedBy } from '../rollout/transition.ts';
import { getRisk, type Risk } from '../rollout/batches.ts';
import type { BlockedReason } from '../rollout/workload-state.ts';
import { describeError } from '../wording/errors.ts';
import { guarded, readAndChange, type Client } from '../kubernetes/http/client.ts';
import { isForbidden, isNotFound, isRefusal } from '../kubernetes/http/errors.ts';

export interface Verdict {
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly decision: Decision;
  readonly patch: readonly PatchOperation[];
  /** The answer of a dry run; undefined if nothing would be written. */
  readonly refusal: string | undefined;
  /** The caller may not patch the workload, so the answer of the API server is unknown. */
  readonly untried?: boolean;
  readonly warnings: readonly string[];
  readonly risk: Risk;
  /** Undefined if it can be changed now. */
  readonly blocked: BlockedReason | undefined;
}

export interface VerdictContext {
  readonly client: Client;
  readonly config: InjectionConfig;
}

/** Returns why the reconciler does not inject it now. */
export function whyLater({ rolloutStrategy }: InjectionConfig, workload: Workload): BlockedReason | undefined {
  if (rolloutStrategy === 'immediate') return undefined;
  return whyWaits(rolloutStrategy, workload) ?? blockedBy(getCompletion(workload), 'untried');
}

/** RBAC refuses so before the API server looks at the change. Quotas and policies also answer 403. */
const isOwnLack = (error: unknown): boolean =>
  isForbidden(error) && / is forbidden: User "[^"]*" cannot patch resource /.test(error.message);

/** Decides as the reconciler would at first sight. By its plan, it does not even read some workloads. */
export function decisionOn(kind: WorkloadKind, workload: Workload, policy: NamespacePolicy, config: InjectionConfig) {
  const decision = decide({
    workload,
    operation: 'RECONCILE',
    policy,
    injector: toInjector(config),
    now: new Date().toISOString(),
    by: 'controller',
    renew: config.updateOnUpgrade,
  });
  const step = planWorkload(observeWorkload(kind, workload.metadata), policy, 0);
  if (decision.kind === 'none' || step.kind !== 'nothing') return decision;
  const message = `Not changed: ${step.reason}`;
  return { kind: 'none', tried: 'nothing', code: 'up-to-date', message } as const;
}

/** The dry run includes admission, quota and validation. Undefined: deleted meanwhile. */
export function verdictOn(kind: WorkloadKind, listed: Workload, policy: NamespacePolicy, context: VerdictContext) {
  const { client, config } = context;
  const { namespace = '', name = '' } = listed.metadata;
  const ref = { ...kind, namespace, name };
  const read = async () => (await client.get(ref)) as Workload;
  return readAndChange(listed, read, async (workload): Promise<Verdict> => {
    const decision = decisionOn(kind, workload, policy, config);
    const patch = decision.kind === 'none' ? [] : workloadPatch(workload, decision.workload);
    const rollout = { risk: getRisk(workload), blocked: whyLater(config, workload) };
    const nothing = { kind, name, decision, patch, refusal: undefined, warnings: [], ...rollout };
    if (patch.length === 0) return nothing;
    const change = guarded(workload.metadata.resourceVersion ?? '', patch);
    try {
      const { warnings } = await client.patch(ref, change, { dryRun: true, metadataOnly: true });
      return { ...nothing, warnings };
    } catch (error) {
      if (isOwnLack(error)) return { ...nothing, untried: true };
      if (!isRefusal(error) || isNotFound(error)) throw error;
      return { ...nothing, refusal: describeError(error) };
    }
  });
}

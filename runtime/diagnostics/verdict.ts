import type { WorkloadKind } from '../contract.ts';
import { decide, type Decision } from '../injection/decide.ts';
import { workloadPatch } from '../injection/patch.ts';
import type { PatchOperation, Workload } from '../api/objects.ts';
import type { InjectorSettings, NamespacePolicy } from '../injection/types.ts';
import { getCompletion } from '../rollout/completion.ts';
import type { InjectionConfig } from '../config/config.ts';
import { whyWaits } from '../reconciler/plan-workload.ts';
import { blockedBy } from '../rollout/transition.ts';
import { getRisk, type Risk } from '../rollout/batches.ts';
import type { BlockedReason } from '../rollout/workload-state.ts';
import { describeError } from '../wording/errors.ts';
import { guarded, type Client } from '../kubernetes/http/client.ts';

export interface Verdict {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly decision: Decision;
  readonly patch: readonly PatchOperation[];
  /** The answer of a dry run; undefined if nothing would be written. */
  readonly refusal: string | undefined;
  readonly warnings: readonly string[];
  /** True if a change of the template replaces pods. */
  readonly restarts: boolean;
  readonly risk: Risk;
  /** Undefined if it can be changed now. */
  readonly blocked: BlockedReason | undefined;
}

export interface VerdictContext {
  readonly client: Client;
  readonly injector: InjectorSettings;
  readonly renew: boolean;
  readonly config: Pick<InjectionConfig, 'rolloutStrategy'>;
}

/** Returns why the reconciler does not inject it now. */
export function whyLater({ rolloutStrategy }: VerdictContext['config'], workload: Workload): BlockedReason | undefined {
  if (rolloutStrategy === 'immediate') return undefined;
  return whyWaits(rolloutStrategy, workload) ?? blockedBy(getCompletion(workload), 'untried');
}

/** Decides as the reconciler would. The dry run includes admission, quota and validation. */
export async function verdictOn(
  kind: WorkloadKind,
  listed: Workload,
  policy: NamespacePolicy,
  { client, injector, renew, config }: VerdictContext,
): Promise<Verdict> {
  const workload = { ...listed, apiVersion: kind.apiVersion, kind: kind.kind };
  const { namespace = '', name = '', resourceVersion = '' } = workload.metadata;
  const now = new Date().toISOString();
  const decision = decide({ workload, operation: 'RECONCILE', policy, injector, now, by: 'controller', renew });
  const patch = decision.kind === 'none' ? [] : workloadPatch(workload, decision.workload);
  const restarts = getCompletion(workload).kind !== 'no-pods';
  const rollout = { restarts, risk: getRisk(workload), blocked: whyLater(config, workload) };
  const nothing = { kind, namespace, name, decision, patch, refusal: undefined, warnings: [], ...rollout };
  if (patch.length === 0) return nothing;
  try {
    const ref = { ...kind, namespace, name };
    const { warnings } = await client.patch(ref, guarded(resourceVersion, patch), { dryRun: true, metadataOnly: true });
    return { ...nothing, warnings };
  } catch (error) {
    return { ...nothing, refusal: describeError(error) };
  }
}

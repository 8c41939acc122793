import { annotations } from '../contract.ts';
import { describeError } from '../errors.ts';
import { decide, type Decision } from '../injection/decide.ts';
import { workloadPatch } from '../injection/patch.ts';
import type { InjectorSettings, Metadata, NamespacePolicy, PatchOperation, Workload } from '../injection/types.ts';
import { isRefusal } from '../kubernetes/errors.ts';
import { readAndChange } from '../kubernetes/on-conflict.ts';
import type { WorkloadChange } from './plan-workloads.ts';

export interface ChangeContext {
  readonly injector: InjectorSettings;
  /** Whether an older injection is renewed although nothing else asks for it. */
  readonly renew: boolean;
  /** The policy of the namespace right now. */
  readonly policy: (namespace: string) => NamespacePolicy;
  readonly read: () => Promise<Workload>;
  /** Writes a patch that holds only for this resourceVersion; answers with the metadata that results. */
  readonly write: (resourceVersion: string, patch: readonly PatchOperation[]) => Promise<Metadata>;
  /** Told before a change is sent, with the stamp that it leaves: by it its echo in the watch is known. */
  readonly onWrite: (stamp: string | undefined) => void;
  /** ISO 8601. */
  readonly now: () => string;
}

export type Change = 'added' | 'updated' | 'removed' | 'none';

/** What came of a planned change. */
export type ChangeResult =
  /** Nothing had to be written. */
  | { readonly kind: 'left'; readonly metadata: Metadata; readonly decision: Decision & { readonly action: 'none' } }
  | {
      readonly kind: 'written';
      readonly metadata: Metadata;
      readonly change: Change;
      readonly decision: Exclude<Decision, { readonly action: 'none' }>;
      readonly createdAt: string;
    }
  | { readonly kind: 'gone' }
  /** The policy is another one by now: nothing was written, and a new plan says what is to be done. */
  | { readonly kind: 'outdated' }
  /** `isRefused`: the API server said no; otherwise it gave no answer, or asks for time. */
  | { readonly kind: 'failed'; readonly change: Change; readonly problem: string; readonly isRefused: boolean };

/** Makes one planned change: reads the workload, decides, writes what differs. Never rejects. */
export async function changeWorkload(
  { policy, workload: { namespace } }: WorkloadChange,
  fresh: Workload | undefined,
  context: ChangeContext,
): Promise<ChangeResult> {
  let change: Change = 'none';
  const attempt = async (workload: Workload): Promise<ChangeResult> => {
    const { injector, renew } = context;
    const now = context.now();
    const decision = decide({ workload, operation: 'RECONCILE', policy, injector, now, by: 'controller', renew });
    const { metadata } = workload;
    if (decision.action === 'none') return { kind: 'left', metadata, decision };
    if (context.policy(namespace) !== policy) return { kind: 'outdated' };
    change = decision.action === 'remove' ? 'removed' : decision.change;
    const patch = workloadPatch(workload, decision.workload);
    const written = patch.length === 0 ? metadata : await write(metadata, decision.workload, patch);
    return { kind: 'written', metadata: written, change, decision, createdAt: metadata.creationTimestamp ?? '' };
  };
  const write = (before: Metadata, after: Workload, patch: readonly PatchOperation[]): Promise<Metadata> => {
    context.onWrite(after.metadata.annotations?.[annotations.instrumentation]);
    return context.write(before.resourceVersion ?? '', patch);
  };
  return readAndChange(fresh, context.read, attempt).then(
    (result) => result ?? { kind: 'gone' },
    (error: unknown) => ({ kind: 'failed', change, problem: describeError(error), isRefused: isRefusal(error) }),
  );
}

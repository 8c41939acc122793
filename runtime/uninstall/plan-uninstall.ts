import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../injection/types.ts';

/** What a Lease says, as far as it matters here. */
export interface LeaseView {
  readonly holderIdentity: string;
  /** ISO 8601. */
  readonly renewTime: string | undefined;
  readonly leaseDurationSeconds: number;
}

/** Twice the Lease's life: a manager that merely restarts does not count as gone. */
const PATIENCE = 2;

/** Whether a manager leads, judged by its Lease: one that renewed it lately will answer the finalizers itself. */
export function isManagerAlive(lease: LeaseView | undefined, nowMs: number): boolean {
  if (lease === undefined || lease.holderIdentity === '' || lease.renewTime === undefined) return false;
  return nowMs < Date.parse(lease.renewTime) + PATIENCE * lease.leaseDurationSeconds * 1_000;
}

/** One look at the Lumigo resources that are left. */
export interface UninstallStep {
  readonly toDelete: readonly LumigoResource[];
  /** Being deleted, held by our finalizer, with no manager that would answer it. */
  readonly toRelease: readonly LumigoResource[];
}

export function planUninstall(left: readonly LumigoResource[], managerAlive: boolean): UninstallStep {
  const deleting = (lumigo: LumigoResource) => lumigo.metadata.deletionTimestamp !== undefined;
  const held = (lumigo: LumigoResource) => lumigo.metadata.finalizers?.includes(contract.finalizer) === true;
  return {
    toDelete: left.filter((lumigo) => !deleting(lumigo)),
    toRelease: managerAlive ? [] : left.filter((lumigo) => deleting(lumigo) && held(lumigo)),
  };
}

/** Why a Lumigo is still there, for the list of what is stuck. */
export function whyStuck(lumigo: LumigoResource, problems: readonly string[]): string {
  const { namespace, name, finalizers = [], deletionTimestamp } = lumigo.metadata;
  const foreign = finalizers.filter((finalizer) => finalizer !== contract.finalizer);
  const reasons = [
    ...(deletionTimestamp === undefined ? ['it could not be deleted'] : []),
    ...(foreign.length > 0 ? [`somebody else's finalizers hold it: ${foreign.join(', ')}`] : []),
    ...problems,
  ];
  return `${namespace}/${name}: ${reasons.join('; ') || 'its workloads are still being uninstrumented'}`;
}

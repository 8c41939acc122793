import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../injection/types.ts';
import type { LeaseSpec } from '../kubernetes/lease/plan-lease.ts';

/** In lives of the Lease. A manager that restarts is still alive. */
const PATIENCE = 2;

/** Returns true if a manager leads, by its Lease. A manager that renewed it lately removes the finalizers itself. */
export function isManagerAlive(lease: LeaseSpec | undefined, nowMs: number): boolean {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = lease ?? {};
  if (holderIdentity === '' || renewTime === undefined) return false;
  return nowMs < Date.parse(renewTime) + PATIENCE * leaseDurationSeconds * 1_000;
}

/** Returns what to do with the `Lumigo` resources that are left. Without a manager, those with the operator's finalizer are released. */
export function planUninstall(left: readonly LumigoResource[], managerAlive: boolean) {
  const deleting = (lumigo: LumigoResource) => lumigo.metadata.deletionTimestamp !== undefined;
  const held = (lumigo: LumigoResource) => lumigo.metadata.finalizers?.includes(contract.finalizer) === true;
  return {
    toDelete: left.filter((lumigo) => !deleting(lumigo)),
    toRelease: managerAlive ? [] : left.filter((lumigo) => deleting(lumigo) && held(lumigo)),
  };
}

/** Returns why a `Lumigo` is still there, for the list of what is stuck. */
export function whyStuck(lumigo: LumigoResource, problems: readonly string[]): string {
  const { namespace, name, finalizers = [], deletionTimestamp } = lumigo.metadata;
  const foreign = finalizers.filter((finalizer) => finalizer !== contract.finalizer);
  const reasons = [
    ...(deletionTimestamp === undefined ? ['it could not be deleted'] : []),
    ...(foreign.length > 0 ? [`finalizers of other controllers keep it: ${foreign.join(', ')}`] : []),
    ...problems,
  ];
  return `${namespace}/${name}: ${reasons.join('; ') || 'the injection is still being removed from its workloads'}`;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { leaseOf, type Installed } from '../installation/installation.ts';
import { readAndChange, type Client } from '../kubernetes/http/client.ts';
import { heldSpec, type Lease, type LeaseSpec } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

/** In lives of the Lease. A manager that restarts is still alive. */
const PATIENCE = 2;

/** Returns true if a manager leads, by its Lease. A manager that renewed it lately removes the finalizers itself. */
export function isManagerAlive(lease: LeaseSpec | undefined, nowMs: number): boolean {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = lease ?? {};
  if (holderIdentity === '' || renewTime === undefined) return false;
  return nowMs < Date.parse(renewTime) + PATIENCE * leaseDurationSeconds * 1_000;
}

const refOf = (installed: Installed) => ({ ...kinds.leases, ...leaseOf(installed) });

/** Returns whether a manager leads that will answer. Without a Lease none does. */
export async function isLed(client: Client, installed: Installed): Promise<boolean> {
  const lease = (await client.find(refOf(installed))) as Lease | undefined;
  return isManagerAlive(lease?.spec, Date.now());
}

/** Longer than a removal takes to delete the operator's Deployment after this. */
const HELD_MS = 120_000;
/** A leader renews its Lease every 5 seconds, and notices then. */
const NOTICE_MS = 6_000;

/**
 * Takes the leader's Lease and waits until the leader has noticed. It would instrument a workload that opted in by its label again, as
 * soon as that is cleaned.
 */
export async function standDown(client: Client, installed: Installed): Promise<void> {
  const ref = refOf(installed);
  const read = (): Promise<Lease> => client.get(ref);
  // The leader may renew it at the same moment.
  await readAndChange(undefined, read, (lease) => {
    const spec = heldSpec(lease.spec, 'uninstall', { leaseDurationMs: HELD_MS }, new Date());
    return client.update(ref, { ...lease, spec });
  });
  await sleep(NOTICE_MS);
}

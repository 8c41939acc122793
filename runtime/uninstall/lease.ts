import { setTimeout as sleep } from 'node:timers/promises';
import { leaseOf, type Installed } from '../installation/installation.ts';
import { type Client, readAndChange } from '../kubernetes/http/client.ts';
import { heldSpec, type Lease } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { isManagerAlive } from './plan-uninstall.ts';

/** Longer than whoever removes the operator needs to remove its Deployment after this. */
const HELD_MS = 120_000;
/** A leader renews every 5 seconds, and notices then. */
const NOTICE_MS = 6_000;

const refOf = (installed: Installed) => ({ ...kinds.leases, ...leaseOf(installed) });

/** Whether a manager leads that will answer; none does where there is no Lease. */
export async function isLed(client: Client, installed: Installed): Promise<boolean> {
  const lease = (await client.find(refOf(installed))) as Lease | undefined;
  return isManagerAlive(lease?.spec, Date.now());
}

/**
 * Takes the leader's Lease away from the manager and waits until it has noticed: a workload that opted in by its label
 * would be instrumented again the moment it is cleaned.
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

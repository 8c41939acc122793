import { setTimeout as sleep } from 'node:timers/promises';
import { getLease, type Installed } from '../installation/installation.ts';
import { readAndChange, type Client } from '../kubernetes/http/client.ts';
import { heldSpec, type Lease, type LeaseSpec } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';

/** The unit is a lifetime of the Lease. A manager that restarts is still alive. */
const PATIENCE = 2;

/** A manager that renewed its Lease lately removes the finalizers itself. */
export function isManagerAlive(lease: LeaseSpec | undefined, nowMs: number): boolean {
  const { holderIdentity = '', renewTime, leaseDurationSeconds = 15 } = lease ?? {};
  if (holderIdentity === '' || renewTime === undefined) return false;
  return nowMs < Date.parse(renewTime) + PATIENCE * leaseDurationSeconds * 1_000;
}

const toRef = (installed: Installed) => ({ ...kinds.leases, ...getLease(installed) });

export async function isLed(client: Client, installed: Installed): Promise<boolean> {
  const lease = (await client.find(toRef(installed))) as Lease | undefined;
  return isManagerAlive(lease?.spec, Date.now());
}

/** The removal deletes the operator's Deployment within this time, or holds the Lease again. */
export const HELD_MS = 120_000;
/** A leader renews its Lease every 5 s, and then notices. */
const NOTICE_MS = 6_000;

/** Takes the leader's Lease, because the leader would inject again into cleaned workloads that opted in by label. */
export async function stepDown(client: Client, installed: Installed): Promise<void> {
  const ref = toRef(installed);
  const read = (): Promise<Lease> => client.get(ref);
  await readAndChange(undefined, read, (lease) => {
    const spec = heldSpec(lease.spec, 'uninstall', { leaseDurationMs: HELD_MS }, new Date());
    return client.update(ref, { ...lease, spec });
  });
  await sleep(NOTICE_MS);
}

import { setTimeout as sleep } from 'node:timers/promises';
import { getLease, type Installed } from '../installation/installation.ts';
import { readAndChange, type Client } from '../kubernetes/http/client.ts';
import { heldSpec, type Lease } from '../kubernetes/lease/plan-lease.ts';

/** The removal deletes the operator's Deployment within this time, or holds the Lease again. */
export const HELD_MS = 120_000;
/** A leader renews its Lease every 5 s, and then notices. */
const NOTICE_MS = 6_000;

/** Takes the leader's Lease, because the leader would inject again into cleaned workloads that opted in by label. */
export async function stepDown(client: Client, installed: Installed): Promise<void> {
  const ref = getLease(installed);
  const read = (): Promise<Lease> => client.get(ref);
  await readAndChange(undefined, read, (lease) => {
    const spec = heldSpec(lease.spec, 'uninstall', { leaseDurationMs: HELD_MS }, new Date());
    return client.update(ref, { ...lease, spec });
  });
  await sleep(NOTICE_MS);
}

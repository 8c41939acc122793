import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../kubernetes/client.ts';
import { readAndChange } from '../kubernetes/on-conflict.ts';

/** Longer than whoever removes the operator needs to remove its Deployment after this. */
const HELD_SECONDS = 120;
/** A leader renews every 5 seconds, and notices then. */
const NOTICE_MS = 6_000;

/**
 * Takes the leader's Lease away from the manager and waits until it has noticed: a workload that opted in by its label
 * would be instrumented again the moment it is cleaned.
 */
export async function standDown(
  client: Client,
  lease: { readonly namespace: string; readonly name: string },
): Promise<void> {
  const ref = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', ...lease };
  // The leader may renew it at the same moment.
  await readAndChange(
    undefined,
    () => client.get(ref),
    (found) => {
      const now = new Date().toISOString().replace('Z', '000Z');
      const held = {
        holderIdentity: 'uninstall',
        leaseDurationSeconds: HELD_SECONDS,
        acquireTime: now,
        renewTime: now,
      };
      return client.update(ref, { ...found, spec: { ...(found['spec'] as object), ...held } });
    },
  );
  await sleep(NOTICE_MS);
}

import { retrying } from '../async/retrying.ts';
import { originalLease } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { SeenLease } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';
import { describeError } from '../wording/errors.ts';
import type { Installed } from './installation.ts';
import { lookAtLease } from './leader.ts';

interface OriginalOptions extends Omit<Watching, 'transport'> {
  readonly client: Client;
  readonly installed: Installed;
}

/** Resolves when no original operator leads, so that two never write at once. Then deletes its Lease. */
export async function waitForEndOfOriginal({ client, installed, signal, logger }: OriginalOptions): Promise<void> {
  const ref = { ...kinds.leases, namespace: installed.operatorNamespace, name: originalLease };
  let seen: SeenLease | undefined;
  const check = async (): Promise<void> => {
    const look = await lookAtLease(client, ref, seen);
    seen = look.seen;
    if (look.isHeld) throw new Error('the original operator is still the leader');
    if (seen === undefined) return;
    const { uid } = seen.lease.metadata;
    // The other replica may be faster, and a Lease that remains is no reason to wait.
    await client.delete(ref, { preconditions: { uid } }).catch((error: unknown) => {
      logger.debug({ problem: describeError(error) }, 'cannot delete the lease of the original operator');
    });
  };
  const failure = "waiting for the previous operator's lease to expire";
  await retrying(check, { signal, logger, failure, fields: { lease: originalLease }, maxMs: 1_000 });
}

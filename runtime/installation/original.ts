import type { Logger } from 'pino';
import { retrying } from '../async/retrying.ts';
import { originalLease } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { planLease, seeLease, type Lease, type SeenLease } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { describeError } from '../wording/errors.ts';
import type { Installed } from './installation.ts';

/** The original's values, for a Lease without a duration. */
const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 1_000 };

interface OriginalOptions {
  readonly client: Client;
  readonly installed: Installed;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Resolves when no original operator leads, so that two never write at once. Then deletes its Lease. */
export async function waitForEndOfOriginal({ client, installed, signal, logger }: OriginalOptions): Promise<void> {
  const ref = { ...kinds.leases, namespace: installed.operatorNamespace, name: originalLease };
  let seen: SeenLease | undefined;
  const check = async (): Promise<void> => {
    const lease = (await client.find(ref)) as Lease | undefined;
    if (lease === undefined) return;
    seen = seeLease(seen, lease, performance.now());
    if (planLease(seen, performance.now(), '', times) > 0) throw new Error('the original operator is still the leader');
    const { uid } = lease.metadata;
    // The other replica may be faster, and a Lease that remains is no reason to wait.
    await client.delete(ref, { preconditions: { uid } }).catch((error: unknown) => {
      logger.debug(
        { lease: originalLease, problem: describeError(error) },
        'cannot delete the lease of the original operator',
      );
    });
  };
  const failure = "waiting for the previous operator's lease to expire";
  await retrying(check, { signal, logger, failure, fields: { lease: originalLease }, maxMs: times.retryPeriodMs });
}

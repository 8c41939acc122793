import { setTimeout as sleep } from 'node:timers/promises';
import { retrying } from '../async/retrying.ts';
import { originalLease } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { planLease, seeLease, type Lease, type LeaseSpec, type SeenLease } from '../kubernetes/lease/plan-lease.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';
import { describeError } from '../wording/errors.ts';
import { getLease, type Installed } from './installation.ts';

/** The values of the manager and of the original, for a Lease without a duration. A leader renews every 5 s. */
const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 1_000 };

/** Judges a Lease by its changes, because either clock may be wrong. On the first look, any holder counts. */
export async function lookAtLease(client: Client, ref: ResourceRef, before: SeenLease | undefined) {
  const lease = (await client.find(ref)) as Lease | undefined;
  const now = performance.now();
  const seen = lease && seeLease(before, lease, now);
  return { seen, isHeld: planLease(seen, now, '', times) > 0 };
}

const isFresh = (spec?: LeaseSpec) => Math.abs(Date.now() - Date.parse(spec?.renewTime ?? '')) < times.leaseDurationMs;

/** Returns the leader of a fresh Lease at once. With another time it must renew its Lease, because a clock may be wrong. */
export async function findLeader(client: Client, installed: Installed): Promise<string | undefined> {
  const until = performance.now() + times.leaseDurationMs;
  for (let before: SeenLease | undefined; ; await sleep(times.retryPeriodMs)) {
    const { seen, isHeld } = await lookAtLease(client, getLease(installed), before);
    const spec = seen?.lease.spec;
    if (isHeld && (isFresh(spec) || (before !== undefined && seen !== before))) return spec?.holderIdentity;
    if (!isHeld || performance.now() > until) return undefined;
    before = seen;
  }
}

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

import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../kubernetes/http/client.ts';
import type { ResourceRef } from '../kubernetes/http/paths.ts';
import { planLease, seeLease, type Lease, type LeaseSpec, type SeenLease } from '../kubernetes/lease/plan-lease.ts';
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

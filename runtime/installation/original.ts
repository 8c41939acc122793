import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { suffixes } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { ownersOf } from '../kubernetes/resources/owners.ts';
import { planLease, seeLease, type Lease, type SeenLease } from '../kubernetes/lease/plan-lease.ts';
import { describeError } from '../wording/errors.ts';
import type { Installed } from './installation.ts';

/** By which the original operator elects its leader, in its own namespace; no object of its chart. */
const originalLease = '1447aab8.lumigo.io';

/** As the original's own, should its Lease not say how long it lasts. */
const times = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 1_000 };

interface OriginalOptions {
  readonly client: Client;
  readonly installed: Installed;
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/**
 * Resolves when no original operator leads in this namespace, so that two never write at once: an upgrade from it replaces its pods
 * one by one. Its Lease, which nobody needs any more, then goes with this operator's Deployment. One request where there is none.
 */
export async function whenOriginalEnded({ client, installed, signal, logger }: OriginalOptions): Promise<void> {
  const { operatorName, operatorNamespace: namespace } = installed;
  const ref = { group: 'coordination.k8s.io', version: 'v1', plural: 'leases', namespace, name: originalLease };
  let seen: SeenLease | undefined;
  /** Whether it is over, else what there is to say. */
  const look = async (): Promise<true | string> => {
    const lease = (await client.get(ref).catch(undefinedIfNotFound)) as Lease | undefined;
    if (lease === undefined) return true;
    seen = seeLease(seen, lease, performance.now());
    if (planLease(seen, performance.now(), '', times) > 0) return 'the original operator still leads';
    const ownerReferences = await ownersOf(client, namespace, `${operatorName}${suffixes.manager}`);
    await client.update(ref, { ...lease, metadata: { ...lease.metadata, ownerReferences } });
    return true;
  };
  let told: string | undefined;
  while (!signal.aborted) {
    const outcome = await look().catch(describeError);
    if (outcome === true) return;
    if (outcome !== told) logger.info({ lease: originalLease, cause: outcome }, 'not standing for election yet');
    told = outcome;
    await sleep(times.retryPeriodMs, undefined, { signal }).catch(() => undefined);
  }
}

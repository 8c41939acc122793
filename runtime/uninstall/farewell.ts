import type { Logger } from 'pino';
import { describeError } from '../errors.ts';
import type { Client } from '../kubernetes/client.ts';
import { isNotFound } from '../kubernetes/errors.ts';
import type { ResourceRef } from '../kubernetes/paths.ts';
import { accountOf, leaseOf, type Installed } from './held-objects.ts';
import { letGo } from './let-go.ts';
import { isManagerAlive } from './plan-uninstall.ts';
import { readLease, uninstall } from './uninstall.ts';

/** An account that is being deleted is believed for a minute; of it the drain took some seconds. */
const MOST_MS = 45_000;
/** An API server that does not answer holds up nobody's end. */
const ANSWER_MS = 5_000;

export interface FarewellOptions {
  readonly client: Client;
  readonly installed: Installed;
  /** How long a workload that cannot be changed may hold up the rest; never more than there is time for. */
  readonly removalDeadlineMs: number;
  readonly logger: Logger;
}

/**
 * What a replica does last. Where the whole operator is being removed, whatever removes it, this is the moment to clean up:
 * nobody will come after it. Where only this replica goes, nothing; the last one, of an operator that is scaled to zero,
 * lets its account go, so that nothing waits for a manager that there is not. Never throws: the process ends anyway.
 */
export async function farewell(options: FarewellOptions): Promise<void> {
  const { client, installed, logger } = options;
  const deadlineMs = Math.min(options.removalDeadlineMs, MOST_MS);
  const lease = leaseOf(installed);
  try {
    if (await isBeingRemoved(client, installed)) {
      logger.info({}, 'the operator is being removed: cleaning up');
      const print = (progress: string): void => logger.info({ progress }, 'cleaning up');
      const stuck = await uninstall({ client, lease, deadlineMs, print, isLast: true });
      if (stuck.length > 0) logger.error({ stuck }, 'not everything could be cleaned up');
      await letGo(client, installed);
    } else if (!isManagerAlive(await readLease(client, lease), Date.now())) await letGo(client, installed);
  } catch (error) {
    logger.error({ problem: describeError(error) }, 'no farewell');
  }
}

/** By its account and its namespace: whatever removes an operator removes one of them, and nothing else does. */
async function isBeingRemoved(client: Client, installed: Installed): Promise<boolean> {
  const namespace = { group: '', version: 'v1', plural: 'namespaces', name: installed.operatorNamespace };
  const ends = await Promise.all([accountOf(installed), namespace].map((ref) => isEnding(client, ref)));
  return ends.includes(true);
}

async function isEnding(client: Client, ref: ResourceRef): Promise<boolean> {
  try {
    return (
      (await client.get(ref, { metadataOnly: true, timeoutMs: ANSWER_MS })).metadata.deletionTimestamp !== undefined
    );
  } catch (error) {
    if (isNotFound(error)) return true;
    throw error;
  }
}

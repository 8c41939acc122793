import type { Logger } from 'pino';
import { describeError } from '../errors.ts';
import type { Installed } from '../installation.ts';
import type { Client } from '../kubernetes/client.ts';
import { letGo } from './held-objects.ts';
import { isLed } from './lease.ts';
import { hasSuccessor, readSigns } from './signs.ts';
import { uninstall } from './uninstall.ts';

/** An account that is being deleted is believed for a minute; of it the drain took some seconds. */
const MOST_MS = 45_000;

interface FarewellOptions {
  readonly client: Client;
  readonly installed: Installed;
  /** How long a workload that cannot be changed may hold up the rest; never more than there is time for. */
  readonly removalDeadlineMs: number;
  readonly logger: Logger;
}

/**
 * What a replica does last. Where the whole operator is being removed, whatever removes it, this is the moment to clean up: nobody
 * will come after it. Where it goes on under another name, it only lets its own account and rights go. Where only this replica
 * goes, nothing; the last one, of an operator that is scaled to zero, lets its account go, so that nothing waits for a manager
 * that there is not. Never throws: the process ends anyway.
 */
export async function farewell(options: FarewellOptions): Promise<void> {
  const { client, installed, logger } = options;
  const deadlineMs = Math.min(options.removalDeadlineMs, MOST_MS);
  try {
    const { isRemoved } = await readSigns(client, installed);
    if (isRemoved && (await hasSuccessor(client, installed))) {
      logger.info({}, 'the operator goes on under another name: cleaning up nothing');
      await letGo(client, installed);
    } else if (isRemoved) {
      logger.info({}, 'the operator is being removed: cleaning up');
      const print = (progress: string): void => logger.info({ progress }, 'cleaning up');
      const stuck = await uninstall({ client, installed, deadlineMs, print, isLast: true });
      if (stuck.length > 0) logger.error({ stuck }, 'not everything could be cleaned up');
      await letGo(client, installed);
    } else if (!(await isLed(client, installed))) await letGo(client, installed);
  } catch (error) {
    logger.warn({ problem: describeError(error) }, 'no farewell');
  }
}

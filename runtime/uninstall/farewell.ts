import type { Logger } from 'pino';
import { suffixes } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { Installed } from '../installation.ts';
import type { Client } from '../kubernetes/client.ts';
import { undefinedIfNotFound } from '../kubernetes/errors.ts';
import type { ResourceRef } from '../kubernetes/paths.ts';
import { accountOf, letGo } from './held-objects.ts';
import { isLed } from './lease.ts';
import { uninstall } from './uninstall.ts';

/** An account that is being deleted is believed for a minute; of it the drain took some seconds. */
const MOST_MS = 45_000;
/** An API server that does not answer holds up nobody's end. */
const ANSWER_MS = 5_000;

interface FarewellOptions {
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
  try {
    if (await isBeingRemoved(client, installed)) {
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

/**
 * Its namespace is going; or its account is, and its Deployment too. An account alone may have been deleted by mistake, and a
 * Deployment alone to be replaced: neither is a reason to take anything from anybody.
 */
async function isBeingRemoved(client: Client, installed: Installed): Promise<boolean> {
  const { operatorName, operatorNamespace } = installed;
  const name = `${operatorName}${suffixes.manager}`;
  const [namespace, account, deployment] = await Promise.all([
    stateOf(client, { group: '', version: 'v1', plural: 'namespaces', name: operatorNamespace }),
    stateOf(client, accountOf(installed)),
    stateOf(client, { group: 'apps', version: 'v1', plural: 'deployments', namespace: operatorNamespace, name }),
  ]);
  return namespace === 'going' || (account === 'going' && deployment !== 'there');
}

async function stateOf(client: Client, ref: ResourceRef): Promise<'there' | 'going' | 'gone'> {
  const found = await client.get(ref, { metadataOnly: true, timeoutMs: ANSWER_MS }).catch(undefinedIfNotFound);
  if (found === undefined) return 'gone';
  return found.metadata.deletionTimestamp === undefined ? 'there' : 'going';
}

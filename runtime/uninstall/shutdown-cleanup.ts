import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { describeError } from '../wording/errors.ts';
import type { Installed } from '../installation/installation.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { within, type Transport } from '../kubernetes/http/transport.ts';
import { release, whenAllLeave } from './protected-objects.ts';
import { isLed } from './lease.ts';
import { hasSuccessor, readSigns } from './signs.ts';
import { inTurn } from './turn.ts';
import { uninstall } from './uninstall.ts';

/**
 * An account that is being deleted is believed for 60 s. So many after the deletion no change of a workload is begun any more, and
 * so many after it everything else is broken off: releasing takes some five.
 */
const CHANGES_MS = 40_000;
const CLEANING_MS = 48_000;
/** A clock that runs ahead of the API server's takes not all of it away. */
const LEAST_MS = 5_000;
/** How many of what is left the log names. */
const NAMED = 20;

interface ShutdownCleanupOptions {
  readonly transport: Transport;
  readonly installed: Installed;
  /** Who this replica is; the pod's name. */
  readonly identity: string;
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
export async function cleanUpOnShutdown(options: ShutdownCleanupOptions): Promise<void> {
  const { transport, installed, identity, logger } = options;
  const client = createClient(transport);
  try {
    const { isRemoved, isHandedOver, accountGoingSince } = await readSigns(client, installed);
    if (isRemoved) {
      const ageMs = accountGoingSince === undefined ? 0 : Math.max(0, Date.now() - Date.parse(accountGoingSince));
      const after = (milliseconds: number) => Date.now() + Math.max(LEAST_MS, milliseconds - ageMs);
      const times = { until: after(CHANGES_MS), end: after(CLEANING_MS) };
      const turn = { client, installed, identity, end: times.end };
      // Releasing is over before another replica would take this one for dead.
      if (await inTurn(turn, () => cleanUp(options, client, times))) await release(client, installed);
    } else if (isHandedOver) {
      await whenAllLeave(client, installed);
      await release(client, installed);
    } else if (!(await isLed(client, installed))) await release(client, installed);
  } catch (error) {
    logger.warn({ problem: describeError(error) }, 'the clean-up before the end failed');
  }
}

interface Times {
  /** Until when workloads are changed, by Date.now. */
  readonly until: number;
  /** When all but releasing is broken off. */
  readonly end: number;
}

/** Unless somebody else is there to. */
async function cleanUp(options: ShutdownCleanupOptions, client: Client, { until, end }: Times): Promise<void> {
  const { transport, installed, logger } = options;
  if (await hasSuccessor(client, installed))
    return logger.info({}, 'the operator goes on under another name: cleaning up nothing');
  logger.info({}, 'the operator is being removed: cleaning up');
  const signal = AbortSignal.timeout(Math.max(0, end - Date.now()));
  // Each request that is under way listens.
  setMaxListeners(0, signal);
  const print = (progress: string): void => logger.info({ progress }, 'cleaning up');
  const stuck = await uninstall({
    client: createClient(within(transport, { signal, fence: () => signal.throwIfAborted() })),
    ...{ installed, until, print, isLast: true },
    deadline: Math.min(until, Date.now() + options.removalDeadlineMs),
  }).catch((error: unknown) => [describeError(error)]);
  if (stuck.length > 0)
    logger.error(
      { stuck: stuck.slice(0, NAMED), left: stuck.length },
      'not everything could be cleaned up; --uninstall finds what is left',
    );
}

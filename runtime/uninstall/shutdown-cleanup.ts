import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Installed } from '../installation/installation.ts';
import { createClient, readAndChange, type Client } from '../kubernetes/http/client.ts';
import { isRefusal, undefinedIf } from '../kubernetes/http/errors.ts';
import { within, type Transport } from '../kubernetes/http/transport.ts';
import { describeError } from '../wording/errors.ts';
import { isLed } from './lease.ts';
import { accountOf, isProtected, protectedObjects, release, REMOVED_MS } from './protected-objects.ts';
import { hasSuccessor, readSigns } from './signs.ts';
import { uninstall } from './uninstall.ts';

/**
 * The API server accepts an account for 60 s after its deletion. No change of a workload begins after the first of these times, and
 * everything but releasing ends after the second. Releasing takes about five seconds.
 */
const CHANGES_MS = 40_000;
const CLEANING_MS = 48_000;
/** The minimum, if the manager's clock is ahead of the API server's. */
const LEAST_MS = 5_000;
/** The number of leftovers that the log names. */
const MAX_NAMED = 20;
const POLL_MS = 1_000;
/** On an account that is being deleted: the replica that cleans up. */
const cleanerAnnotation = 'operator.lumigo.io/cleaned-up-by';

interface ShutdownCleanupOptions {
  readonly transport: Transport;
  readonly installed: Installed;
  /** The name of this replica's pod. */
  readonly identity: string;
  /** How long workloads that refuse to change may delay the rest, at most. */
  readonly removalDeadlineMs: number;
  readonly logger: Logger;
}

/**
 * The last work of a replica, which never throws:
 * - If the whole operator is being removed, one replica cleans up.
 * - If the operator continues under another name, the replica only releases its account and rights.
 * - If no manager is left, because the operator is scaled to zero, it releases them as well.
 * - Otherwise it does nothing.
 */
export async function cleanUpOnShutdown(options: ShutdownCleanupOptions): Promise<void> {
  const { transport, installed, logger } = options;
  const client = createClient(transport);
  try {
    const { isRemoved, isHandedOver, accountGoingSince } = await readSigns(client, installed);
    if (isRemoved) return await cleanUpOnce(options, client, accountGoingSince);
    // A right that is released before it is deleted takes the right to release the others with it.
    if (isHandedOver) await sleep(REMOVED_MS);
    if (isHandedOver || !(await isLed(client, installed))) await release(client, protectedObjects(installed));
  } catch (error) {
    logger.warn({ problem: describeError(error) }, 'the clean-up before the end failed');
  }
}

/**
 * Cleans up, or waits for the replica that does. No Lease can name that replica: it is deleted with the Deployment, and the right to it
 * with its role. The account outlasts the removal, because it is protected, so its name is there. If that replica is not done in time,
 * because it failed, the others only release: a cluster is never left with an account that nothing releases.
 */
async function cleanUpOnce(options: ShutdownCleanupOptions, client: Client, accountGoingSince?: string): Promise<void> {
  const { installed, identity } = options;
  const ageMs = accountGoingSince === undefined ? 0 : Math.max(0, Date.now() - Date.parse(accountGoingSince));
  const after = (ms: number): number => Date.now() + Math.max(LEAST_MS, ms - ageMs);
  const end = after(CLEANING_MS);
  if (await claim(client, installed, identity)) await cleanUp(options, client, after(CHANGES_MS), end);
  else for (; Date.now() < end; await sleep(POLL_MS)) if (await isReleased(client, installed)) return;
  await release(client, protectedObjects(installed));
}

/** Returns false if another replica cleans up. */
async function claim(client: Client, installed: Installed, identity: string): Promise<boolean> {
  const ref = accountOf(installed);
  const read = () => client.get(ref, { metadataOnly: true });
  const claimed = await readAndChange(undefined, read, async (account) => {
    const { resourceVersion, annotations = {} } = account.metadata;
    if (!isProtected(account)) return true;
    if (annotations[cleanerAnnotation] !== undefined) return annotations[cleanerAnnotation] === identity;
    const body = { metadata: { resourceVersion, annotations: { [cleanerAnnotation]: identity } } };
    await client.patch(ref, { kind: 'merge', body }, { metadataOnly: true });
    return true;
  });
  return claimed ?? true;
}

/** An account that was released may be refused. */
async function isReleased(client: Client, installed: Installed): Promise<boolean> {
  const account = await client.find(accountOf(installed), { metadataOnly: true }).catch(undefinedIf(isRefusal));
  return account === undefined || !isProtected(account);
}

/** Removes every injection, unless another operator is there to stay. Changes no workload after `until`, and ends at `end` (by Date.now). */
async function cleanUp(options: ShutdownCleanupOptions, client: Client, until: number, end: number): Promise<void> {
  const { transport, installed, logger } = options;
  if (await hasSuccessor(client, installed))
    return logger.info({}, 'the operator continues under another name: cleaning up nothing');
  logger.info({}, 'the operator is being removed: cleaning up');
  const signal = AbortSignal.timeout(Math.max(0, end - Date.now()));
  // Each request that is under way listens.
  setMaxListeners(0, signal);
  const stuck = await uninstall({
    client: createClient(within(transport, { signal, fence: () => signal.throwIfAborted() })),
    ...{ installed, until, isLast: true },
    print: (progress) => logger.info({ progress }, 'cleaning up'),
    deadline: Math.min(until, Date.now() + options.removalDeadlineMs),
  }).catch((error: unknown) => [describeError(error)]);
  const log = { stuck: stuck.slice(0, MAX_NAMED), left: stuck.length };
  if (stuck.length > 0) logger.error(log, 'not everything could be cleaned up; lumigo uninstall finds what is left');
}

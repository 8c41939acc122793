import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { RuntimeConfig } from '../config/config.ts';
import { annotations } from '../contract.ts';
import type { Installed } from '../installation/installation.ts';
import { findLeader } from '../installation/leader.ts';
import { createClient, readAndChange, type Client } from '../kubernetes/http/client.ts';
import { isRefusal, undefinedIf } from '../kubernetes/http/errors.ts';
import { withBounds, type Transport } from '../kubernetes/http/transport.ts';
import { describeError } from '../wording/errors.ts';
import { getAccount, isProtected, protectedObjects, release, REMOVED_MS } from './protected-objects.ts';
import { hasSuccessor, readSigns } from './signs.ts';
import { uninstall } from './uninstall.ts';

/** The API server accepts an account for 60 s after its deletion, and a release takes about 5 s. */
const CHANGES_MS = 40_000;
const CLEANING_MS = 48_000;
/** The minimum, because the manager's clock may be ahead of the API server's. */
const LEAST_MS = 5_000;
/** The limit of all waits of a request for a busy server. */
const MAX_WAIT_MS = 10_000;
const MAX_NAMED = 20;
const POLL_MS = 1_000;

interface ShutdownCleanupOptions {
  readonly transport: Transport;
  readonly config: Installed & Pick<RuntimeConfig, 'podName' | 'removalDeadlineSeconds'>;
  readonly logger: Logger;
}

/** Cleans up if the operator is being removed, and releases its account if no manager remains. Never throws. */
export async function cleanUpOnShutdown(given: ShutdownCleanupOptions): Promise<void> {
  const options = { ...given, transport: withBounds(given.transport, { maxWaitMs: MAX_WAIT_MS }) };
  const { transport, config, logger } = options;
  const client = createClient(transport);
  try {
    const { isRemoved, isHandedOver, accountGoingSince } = await readLastSigns(client, config);
    if (isRemoved) return await cleanUpOnce(options, client, accountGoingSince);
    if (isHandedOver || (await findLeader(client, config)) === undefined)
      await release(client, protectedObjects(config));
  } catch (error) {
    logger.warn({ problem: describeError(error) }, 'the clean-up before the end failed');
  }
}

/** Waits if the operator ends for good, because its account may be deleted next (ADR 84). */
async function readLastSigns(client: Client, installed: Installed) {
  const end = Date.now() + REMOVED_MS;
  let signs = await readSigns(client, installed);
  while (signs.isEnding && !signs.isRemoved && signs.isAccountProtected && Date.now() < end) {
    await sleep(POLL_MS);
    signs = await readSigns(client, installed).catch(() => signs);
  }
  return signs;
}

/** The account names the replica that cleans up, because a Lease is deleted with the operator. Others only release. */
async function cleanUpOnce(options: ShutdownCleanupOptions, client: Client, accountGoingSince?: string): Promise<void> {
  const { config } = options;
  const ageMs = accountGoingSince === undefined ? 0 : Math.max(0, Date.now() - Date.parse(accountGoingSince));
  const after = (ms: number): number => Date.now() + Math.max(LEAST_MS, ms - ageMs);
  const end = after(CLEANING_MS);
  if (await claim(client, config, config.podName)) await cleanUp(options, client, after(CHANGES_MS), end);
  else if (await isReleasedUntil(client, config, end)) return;
  await release(client, protectedObjects(config));
}

async function claim(client: Client, installed: Installed, identity: string): Promise<boolean> {
  const ref = getAccount(installed);
  const read = () => client.get(ref, { metadataOnly: true });
  const claimed = await readAndChange(undefined, read, async (account) => {
    const { resourceVersion, annotations: given = {} } = account.metadata;
    if (!isProtected(account)) return true;
    const cleaner = given[annotations.cleanedUpBy];
    if (cleaner !== undefined) return cleaner === identity;
    const body = { metadata: { resourceVersion, annotations: { [annotations.cleanedUpBy]: identity } } };
    await client.patch(ref, { kind: 'merge', body }, { metadataOnly: true });
    return true;
  });
  return claimed ?? true;
}

/** Waits until `end` (by Date.now). The request of an account that was released may be refused. */
async function isReleasedUntil(client: Client, installed: Installed, end: number): Promise<boolean> {
  for (; Date.now() < end; await sleep(POLL_MS)) {
    const account = await client.find(getAccount(installed), { metadataOnly: true }).catch(undefinedIf(isRefusal));
    if (account === undefined || !isProtected(account)) return true;
  }
  return false;
}

/** Changes no workload after `until`, and ends at `end` (by Date.now). Does nothing if another operator stays. */
async function cleanUp(options: ShutdownCleanupOptions, client: Client, until: number, end: number): Promise<void> {
  const { transport, config, logger } = options;
  if (await hasSuccessor(client, config))
    return logger.info({}, 'the operator continues under another name: cleaning up nothing');
  logger.info({}, 'the operator is being removed: cleaning up');
  const signal = AbortSignal.timeout(Math.max(0, end - Date.now()));
  // Each request in progress adds a listener.
  setMaxListeners(0, signal);
  const stuck = await uninstall({
    client: createClient(withBounds(transport, { signal, fence: () => signal.throwIfAborted() })),
    installed: config,
    until,
    isLast: true,
    print: (progress) => logger.info({ progress }, 'cleaning up'),
    // Workloads that refuse to change delay the end for at most this long.
    deadline: Math.min(until, Date.now() + config.removalDeadlineSeconds * 1_000),
  }).catch((error: unknown) => [describeError(error)]);
  const log = { stuck: stuck.slice(0, MAX_NAMED), left: stuck.length };
  if (stuck.length > 0) logger.error(log, 'not everything could be cleaned up; lumigo uninstall finds what is left');
}

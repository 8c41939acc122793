import { setTimeout as sleep } from 'node:timers/promises';
import type { Metadata } from '../injection/types.ts';
import type { Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isConflict, isRefusal } from '../kubernetes/http/errors.ts';
import { readMetadata } from '../kubernetes/resources/finalizers.ts';
import { accountOf, isProtected } from './protected-objects.ts';

/** On an account that is being deleted: which replica cleans up, and a time that it writes anew for as long as it does. */
const turnAnnotation = 'operator.lumigo.io/cleaned-up-by';
const POLL_MS = 1_000;
const RENEW_MS = 3_000;
/** Whoever has not written for so long has died. */
const SILENT_MS = 10_000;

interface TurnOptions {
  readonly client: Client;
  readonly installed: Installed;
  /** Who this replica is; the pod's name. */
  readonly identity: string;
  /** From when on (by Date.now) it is everybody's turn: the account has to be released in time. */
  readonly end: number;
}

/**
 * Of several replicas that end together one does the work, and the others wait for its end. No Lease can say which: it goes with the
 * Deployment, and the right to it with its role. What outlasts the removal is the account, since it is held; so it is written there,
 * for as long as the work takes: whoever then lets the account go has nothing under way that is sent as it. False where another has
 * done the work.
 */
export async function inTurn(options: TurnOptions, work: () => Promise<void>): Promise<boolean> {
  if (!(await takeTurn(options))) return false;
  const done = new AbortController();
  const renewing = renew(options, done.signal);
  try {
    await work();
  } finally {
    done.abort();
    await renewing;
  }
  return true;
}

async function renew({ client, installed, identity }: TurnOptions, done: AbortSignal): Promise<void> {
  while (await sleep(RENEW_MS, true, { signal: done }).catch(() => false))
    await write(client, installed, identity, { timeoutMs: RENEW_MS }).catch(() => undefined);
}

/** False where another has done it. */
async function takeTurn({ client, installed, identity, end }: TurnOptions): Promise<boolean> {
  let seen: { readonly turn: string | undefined; readonly at: number } | undefined;
  /** An account that was released is nobody any more. */
  const isLetGo = (error: unknown): boolean => seen !== undefined && isRefusal(error);
  const read = async (): Promise<Metadata | undefined> => {
    const account = await readMetadata(client, accountOf(installed)).catch((error: unknown) => {
      if (!isLetGo(error)) throw error;
    });
    return account !== undefined && isProtected(account) ? account : undefined;
  };
  for (; Date.now() < end; await sleep(POLL_MS)) {
    const account = await read();
    if (account === undefined) return seen === undefined;
    const turn = account.annotations?.[turnAnnotation];
    if (seen?.turn !== turn || seen === undefined) seen = { turn, at: Date.now() };
    const isFree = turn === undefined || Date.now() - seen.at > SILENT_MS;
    if (isFree && (await write(client, installed, identity, { seen: account }))) return true;
  }
  return true;
}

interface WriteOptions {
  /** Where nothing has changed since. */
  readonly seen?: Metadata;
  readonly timeoutMs?: number;
}

/** Whether it could be written. */
async function write(
  client: Client,
  installed: Installed,
  identity: string,
  { seen, timeoutMs }: WriteOptions,
): Promise<boolean> {
  const annotations = { [turnAnnotation]: `${identity} ${new Date().toISOString()}` };
  const body = { metadata: { resourceVersion: seen?.resourceVersion, annotations } };
  try {
    await client.patch(accountOf(installed), { kind: 'merge', body }, { metadataOnly: true, timeoutMs });
    return true;
  } catch (error) {
    if (!isConflict(error)) throw error;
    return false;
  }
}

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
 * Deployment, and the right to it with its role. What outlasts the removal is the account, since it is held; so it is written there.
 */
export async function inTurn(options: TurnOptions, work: () => Promise<void>): Promise<void> {
  if (!(await takeTurn(options))) return;
  const { client, installed, identity } = options;
  const renewing = setInterval(() => void write(client, installed, identity).catch(() => undefined), RENEW_MS);
  await work().finally(() => clearInterval(renewing));
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
    if (isFree && (await write(client, installed, identity, account))) return true;
  }
  return true;
}

/** Whether it could be written; with `seen` only where nothing has changed since. */
async function write(client: Client, installed: Installed, identity: string, seen?: Metadata): Promise<boolean> {
  const annotations = { [turnAnnotation]: `${identity} ${new Date().toISOString()}` };
  const body = { metadata: { resourceVersion: seen?.resourceVersion, annotations } };
  try {
    await client.patch(accountOf(installed), { kind: 'merge', body }, { metadataOnly: true });
    return true;
  } catch (error) {
    if (!isConflict(error)) throw error;
    return false;
  }
}

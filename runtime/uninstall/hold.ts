import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { holdFinalizer } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { Client } from '../kubernetes/client.ts';
import { addFinalizer, readMetadata } from '../kubernetes/finalizers.ts';
import { heldObjects, type HeldObject, type Installed } from './held-objects.ts';
import { letGo } from './let-go.ts';

/** For so long after the first Lumigo a removal would find nothing held; a look reads memory only. */
const LOOK_MS = 250;
/** Whoever replaces an object (`kubectl replace`, a tool that deletes and creates) takes the finalizer away with it. */
const RENEW_MS = 30_000;

export interface HoldOptions {
  readonly client: Client;
  readonly installed: Installed;
  /** Whether there is anything to clean up; asked four times a second, and costs no request. Undefined: not known yet. */
  readonly needed: () => boolean | undefined;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * For as long as this replica leads: holds the operator's account and rights by a finalizer while there is something to clean
 * up, and lets them go otherwise. So they outlast whatever deletes everything at once (`kubectl delete -f`, a GitOps tool, the
 * operator's namespace) until the manager has cleaned up.
 */
export async function keepHold({ client, installed, needed, logger, signal }: HoldOptions): Promise<void> {
  let held: boolean | undefined;
  let renewAt = 0;
  while (!signal.aborted) {
    const wanted = needed();
    const isDue = wanted === true && Date.now() >= renewAt;
    if (wanted !== undefined && (wanted !== held || isDue))
      try {
        await (wanted ? hold(client, installed) : letGo(client, installed));
        held = wanted;
        renewAt = Date.now() + RENEW_MS;
      } catch (error) {
        logger.warn({ held: wanted, problem: describeError(error) }, 'hold on the account and its rights not changed');
      }
    await sleep(LOOK_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** All at once: a removal in between would find some held and some not. What is gone, or going already, cannot be held. */
async function hold(client: Client, installed: Installed): Promise<void> {
  const holdOne = async (ref: HeldObject): Promise<void> => {
    const found = await readMetadata(client, ref);
    if (found !== undefined && found.deletionTimestamp === undefined)
      await addFinalizer(client, ref, found, holdFinalizer);
  };
  await Promise.all(heldObjects(installed).map(holdOne));
}

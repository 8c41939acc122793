import type { Logger } from 'pino';
import { pause, retrying } from '../async/retrying.ts';
import { cleanupFinalizer } from '../contract.ts';
import { getManager, type Installed } from '../installation/installation.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { isAlreadyExists, undefinedIf } from '../kubernetes/http/errors.ts';
import { withBounds, type Transport } from '../kubernetes/http/transport.ts';
import { addFinalizer, removeFinalizer } from '../kubernetes/resources/finalizers.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { watchChanges } from '../kubernetes/watch/watches.ts';
import * as objects from './protected-objects.ts';
import { readSigns } from './signs.ts';

interface CleanupProtectionOptions {
  readonly transport: Transport;
  readonly config: Installed;
  /** Sends no request. Undefined: not known yet. */
  readonly needed: () => boolean | undefined;
  readonly news: readonly { on(listener: () => void, signal: AbortSignal): void }[];
  readonly logger: Logger;
}

const IDLE_MS = 60_000;

/**
 * A finalizer keeps the operator's account and rights until the manager has cleaned up, even if everything is deleted
 * at once. They are watched, because a replacement removes the finalizer (docs/contributing/adr/0037-one-cleaner.md).
 */
export class CleanupProtection {
  readonly name = 'cleanup protection';
  readonly needsToLead = true;
  private wanted: boolean | undefined;
  private readonly objects: readonly objects.ProtectedObject[];

  constructor(private readonly options: CleanupProtectionOptions) {
    this.objects = objects.protectedObjects(options.config);
  }

  readonly run = async (term: LeadingContext): Promise<void> => {
    const { transport, logger, needed, news } = this.options;
    const { signal } = term;
    const client = termClient(transport, term);
    this.wanted = undefined;
    const changes = watchChanges(this.objects, { transport, logger, signal });
    for (const topic of news) topic.on(() => needed() !== this.wanted && changes.touch(), signal);
    const wait = (ms: number) => changes.wait(ms, signal);
    const failure = 'the finalizers that protect the clean-up could not be changed';
    let isDue = true;
    while (!signal.aborted) {
      if (isDue) await retrying(() => this.check(client, term), { signal, logger, failure, wait, maxMs: 5 * 60_000 });
      isDue = (await wait(IDLE_MS)) || needed() !== this.wanted;
    }
  };

  private async check(client: Client, term: LeadingContext): Promise<void> {
    const { needed } = this.options;
    let found = await objects.readAll(client, this.objects);
    if (needed() === false && found.some(objects.isProtected) && !found.some(objects.isHeldBack)) {
      // A removal may have deleted the last Lumigo, and deletes the operator next (ADR 84).
      await pause(objects.REMOVED_MS, term.signal);
      if (needed() === false) found = await objects.readAll(client, this.objects);
    }
    if (found.some(objects.isHeldBack)) return this.undoMistake(client, term);
    const wanted = needed();
    if (wanted === false && found.some(objects.isProtected)) await objects.release(client, this.objects);
    // All at once: a removal in between would find only some protected. An object in deletion accepts no finalizer.
    const free = found.filter((each) => !objects.isProtected(each) && !objects.isLeaving(each));
    if (wanted === true)
      await Promise.all(free.map(({ ref, metadata }) => addFinalizer(client, ref, metadata, cleanupFinalizer)));
    this.wanted = wanted;
  }

  /** Releases rights, because a tool that applies an object in deletion changes nothing. Restores the account. */
  private async undoMistake(client: Client, term: LeadingContext): Promise<void> {
    const { transport, config: installed, logger } = this.options;
    await pause(objects.REMOVED_MS, term.signal);
    const { isEnding, isHandedOver } = await readSigns(client, installed);
    // The other operator does not need them, and nothing releases them later.
    if (isHandedOver) return objects.release(client, this.objects);
    if (isEnding) return;
    const refs = (await objects.readAll(client, this.objects)).filter(objects.isHeldBack).map(({ ref }) => ref);
    logger.warn(
      { deleted: refs.map(({ kind, name }) => `${kind} ${name}`) },
      'deleted while the operator runs: restoring the account with new pods, rights have to be applied again',
    );
    const fresh = withBounds(transport, { authorization: await freshToken(client, installed) });
    const rights = refs.filter(({ kind }) => kind !== 'ServiceAccount');
    term.signal.throwIfAborted();
    term.fence();
    // It goes on after the end of the term, because nothing else would create the account again.
    if (rights.length < refs.length) await restoreAccount(createClient(fresh), installed);
    await objects.release(termClient(fresh, term), rights);
  }
}

/** The API server accepts a new token for 10 s after its first use, even without the account. Undefined: none. */
async function freshToken(client: Client, installed: Installed): Promise<string | undefined> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
  const answer = client.create({ ...objects.getAccount(installed), subresource: 'token' }, request);
  return answer.then(
    ({ object }) => `Bearer ${(object['status'] as { token: string }).token}`,
    () => undefined,
  );
}

/** Creates the account again, with the owners of its fields (ADR 63), and restarts pods, whose tokens are of the old one. */
async function restoreAccount(client: Client, installed: Installed): Promise<void> {
  const ref = objects.getAccount(installed);
  const { metadata, ...rest } = await client.get(ref);
  const { namespace = '', name, labels = {}, annotations = {}, managedFields = [] } = metadata;
  await removeFinalizer(client, ref, metadata, cleanupFinalizer);
  const restored = { ...rest, apiVersion: 'v1', kind: ref.kind, metadata: { namespace, name, labels, annotations } };
  const created = await client.create({ ...ref, name: undefined }, restored).catch(undefinedIf(isAlreadyExists));
  const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() } } };
  await client.patch(getManager(installed), { kind: 'merge', body: { spec: { template } } }, { metadataOnly: true });
  const body = { metadata: { managedFields } };
  if (created !== undefined) await client.patch(ref, { kind: 'merge', body }, { metadataOnly: true });
}

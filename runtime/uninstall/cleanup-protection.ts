import type { Logger } from 'pino';
import { pause, retrying } from '../async/retrying.ts';
import { cleanupFinalizer } from '../contract.ts';
import { managerOf, type Installed } from '../installation/installation.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { isAlreadyExists, undefinedIf } from '../kubernetes/http/errors.ts';
import { within, type Transport } from '../kubernetes/http/transport.ts';
import { addFinalizer, removeFinalizer } from '../kubernetes/resources/finalizers.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { changesOf } from '../kubernetes/watch/watches.ts';
import * as objects from './protected-objects.ts';
import { readSigns } from './signs.ts';

interface CleanupProtectionOptions {
  readonly transport: Transport;
  readonly installed: Installed;
  /** Returns whether there is anything to clean up, without a request. Undefined: not known yet. */
  readonly needed: () => boolean | undefined;
  /** Events after which there may be something to clean up, or nothing any more. */
  readonly news: readonly { on(listener: () => void, signal: AbortSignal): void }[];
  readonly logger: Logger;
}

const IDLE_MS = 60_000;

/**
 * While there is something to clean up, a finalizer keeps the operator's account and rights. So they outlast a deletion of everything
 * at once (`kubectl delete -f`, a GitOps tool, the operator's namespace) until the manager has cleaned up. The objects are watched,
 * because a replacement (`kubectl replace`, a tool that deletes and creates) removes the finalizer. A deletion by mistake is undone
 * (docs/contributing/adr/0040-one-cleaner.md).
 */
export class CleanupProtection {
  readonly name = 'cleanup protection';
  readonly needsToLead = true;
  private wanted: boolean | undefined;
  private readonly objects: readonly objects.ProtectedObject[];

  constructor(private readonly options: CleanupProtectionOptions) {
    this.objects = objects.protectedObjects(options.installed);
  }

  /** Leaves the finalizers as they are when the term ends. */
  readonly run = async (term: LeadingContext): Promise<void> => {
    const { transport, logger, needed, news } = this.options;
    const { signal } = term;
    const client = termClient(transport, term);
    this.wanted = undefined;
    const changes = changesOf(this.objects, { transport, logger, signal });
    for (const topic of news) topic.on(() => needed() !== this.wanted && changes.touch(), signal);
    const wait = (ms: number) => changes.wait(ms, signal);
    const failure = 'the finalizers that protect the clean-up could not be changed';
    for (let isDue = true; !signal.aborted; isDue = (await wait(IDLE_MS)) || needed() !== this.wanted)
      if (isDue) await retrying(() => this.check(client, signal), { signal, logger, failure, wait, maxMs: 5 * 60_000 });
  };

  private async check(client: Client, signal: AbortSignal): Promise<void> {
    const { needed } = this.options;
    const found = await objects.readAll(client, this.objects);
    if (found.some(objects.isHeldBack)) return this.undoMistake(client, signal);
    const wanted = needed();
    if (wanted === false && found.some(objects.isProtected)) await objects.release(client, this.objects);
    // All at once. A removal in between would find some protected and some not. A dying object takes no finalizer.
    const free = found.filter((each) => !objects.isProtected(each) && !objects.isLeaving(each));
    if (wanted === true)
      await Promise.all(free.map(({ ref, metadata }) => addFinalizer(client, ref, metadata, cleanupFinalizer)));
    this.wanted = wanted;
  }

  /**
   * Undoes the deletion of an account or a right if neither the Deployment nor the namespace is being deleted. A dying object cannot be
   * kept, and a tool that applies it again changes nothing. So rights are released, and have to be applied again. The account is restored.
   */
  private async undoMistake(client: Client, signal: AbortSignal): Promise<void> {
    const { transport, installed, logger } = this.options;
    await pause(objects.REMOVED_MS, signal);
    const { isEnding, isHandedOver } = await readSigns(client, installed);
    // The other operator has no use for them, and nothing releases them later.
    if (isHandedOver) return objects.release(client, this.objects);
    if (isEnding) return;
    const refs = (await objects.readAll(client, this.objects)).filter(objects.isHeldBack).map(({ ref }) => ref);
    logger.warn(
      { deleted: refs.map(({ kind, name }) => `${kind} ${name}`) },
      'deleted while the operator runs: restoring the account with new pods, rights have to be applied again',
    );
    const fresh = await freshClient(client, transport, installed);
    const rights = refs.filter(({ kind }) => kind !== 'ServiceAccount');
    if (rights.length < refs.length) await restoreAccount(fresh, installed);
    await objects.release(fresh, rights);
  }
}

/**
 * Returns a client for the last requests of an account that is about to be deleted. The API server accepts a token for 10 s after it saw it for
 * the first time, whatever becomes of the account. If it issues none, it may still accept the present one.
 */
async function freshClient(client: Client, transport: Transport, installed: Installed): Promise<Client> {
  const request = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
  const answer = client.create({ ...objects.accountOf(installed), subresource: 'token' }, request);
  return answer.then(
    ({ object }) =>
      createClient(within(transport, { authorization: `Bearer ${(object['status'] as { token: string }).token}` })),
    () => client,
  );
}

/**
 * Releases the account, creates it again as it was, and replaces the Deployment's pods as `kubectl rollout restart` does, because their
 * tokens are those of the former account.
 */
async function restoreAccount(client: Client, installed: Installed): Promise<void> {
  const ref = objects.accountOf(installed);
  const { metadata, ...rest } = await client.get(ref);
  const { namespace, name } = ref;
  const { labels = {}, annotations = {} } = metadata;
  await removeFinalizer(client, ref, metadata, cleanupFinalizer);
  const restored = { ...rest, apiVersion: 'v1', kind: ref.kind, metadata: { namespace, name, labels, annotations } };
  await client.create({ ...ref, name: undefined }, restored).catch(undefinedIf(isAlreadyExists));
  const template = { metadata: { annotations: { 'kubectl.kubernetes.io/restartedAt': new Date().toISOString() } } };
  await client.patch(managerOf(installed), { kind: 'merge', body: { spec: { template } } }, { metadataOnly: true });
}

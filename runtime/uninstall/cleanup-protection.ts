import type { Logger } from 'pino';
import { Debounce } from '../async/debounce.ts';
import { cleanupFinalizer } from '../contract.ts';
import type { Metadata } from '../injection/types.ts';
import type { Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { addFinalizer, readMetadata } from '../kubernetes/resources/finalizers.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import { watchNamed } from '../kubernetes/watch/watches.ts';
import { retrying } from '../kubernetes/http/retrying.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import {
  allLeave,
  isHeldBack,
  isProtected,
  protectedObjects,
  release,
  REMOVED_MS,
  type ProtectedObject,
} from './protected-objects.ts';
import { readSigns } from './signs.ts';
import { undoDeletion } from './undo-deletion.ts';

interface CleanupProtectionOptions {
  readonly client: Client;
  /** For the watches. */
  readonly transport: Transport;
  readonly installed: Installed;
  /** Whether there is anything to clean up; costs no request. Undefined: not known yet. */
  readonly needed: () => boolean | undefined;
  readonly logger: Logger;
}

/** What is seen together is looked at once. */
const pause = { quietMs: 20, atMostMs: 100 };
const IDLE_MS = 60_000;
const POLL_MS = 2_000;
const backoff = { firstMs: 1_000, maxMs: 5 * 60_000 };

/**
 * While there is something to clean up, a finalizer holds the operator's account and rights, so that they outlast whatever
 * deletes everything at once (`kubectl delete -f`, a GitOps tool, the operator's namespace) until the manager has cleaned up.
 * The objects are watched: whoever replaces one (`kubectl replace`, a tool that deletes and creates) takes the finalizer away.
 */
export class CleanupProtection {
  private readonly seen = new Map<ProtectedObject, Metadata>();
  private readonly changes = new Debounce(pause);
  /** When it was first seen, by performance.now, that any of what is held is being deleted. */
  private goingSince: number | undefined;

  constructor(private readonly options: CleanupProtectionOptions) {}

  /** There may be something to clean up now, or nothing any more. */
  request(): void {
    this.changes.touch();
  }

  /** Works until the signal is aborted, and leaves the finalizers as they are then. */
  async run(signal: AbortSignal): Promise<void> {
    const { installed, logger } = this.options;
    const watches = protectedObjects(installed).map((object) => this.watch(object, signal));
    await Promise.all(watches.map(({ synced }) => synced));
    const check = async (): Promise<void> => {
      await this.undoMistake();
      await this.hold();
    };
    const failure = 'the finalizers that protect the clean-up could not be changed';
    const wait = (ms: number) => this.changes.wait(ms, signal);
    while (!signal.aborted) {
      await retrying(check, { signal, logger, failure, wait, ...backoff });
      await wait(this.goingSince === undefined ? IDLE_MS : POLL_MS);
    }
    await Promise.all(watches.map(({ stopped }) => stopped));
  }

  /** An account or a right that was deleted, although neither the Deployment nor the namespace is going, holds up nobody. */
  private async undoMistake(): Promise<void> {
    const { client, installed } = this.options;
    const going = [...this.seen].filter(([, seen]) => isHeldBack(seen));
    if (going.length === 0) return void (this.goingSince = undefined);
    this.goingSince ??= performance.now();
    const isOver = performance.now() - this.goingSince >= REMOVED_MS;
    const { isEnding, isHandedOver } = await readSigns(client, installed);
    // Whoever has the Deployment now has no use for them, and nobody lets them go later: all together (protected-objects.ts).
    if (isHandedOver && (isOver || allLeave([...this.seen.values()]))) return release(client, installed);
    if (isEnding || !isOver) return;
    const objects = going.map(([object]) => object);
    await undoDeletion(objects, this.options);
  }

  private async hold(): Promise<void> {
    const { client, installed, needed } = this.options;
    const wanted = needed();
    const held = [...this.seen.values()].filter(isProtected);
    if (wanted === false && held.length > 0) await release(client, installed);
    if (wanted !== true) return;
    // All at once: a removal in between would find some held and some not. What is going already cannot be held.
    const free = [...this.seen].filter(([, seen]) => !isProtected(seen) && seen.deletionTimestamp === undefined);
    await Promise.all(
      free.map(async ([object]) => {
        const found = await readMetadata(client, object);
        if (found !== undefined && found.deletionTimestamp === undefined)
          await addFinalizer(client, object, found, cleanupFinalizer);
      }),
    );
  }

  private watch(object: ProtectedObject, signal: AbortSignal) {
    const handler = new Kept<Metadata>(
      (shown) => shown.metadata,
      (metadata) => {
        if (metadata === undefined) this.seen.delete(object);
        else this.seen.set(object, metadata);
        this.request();
      },
    );
    return watchNamed(object, handler, { ...this.options, signal });
  }
}

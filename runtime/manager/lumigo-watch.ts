import { Topic } from '../async/topic.ts';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { isNotFound } from '../kubernetes/http/errors.ts';
import { watchKind } from '../kubernetes/watch/watches.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { Runnable, Shared } from './runnable.ts';

interface LumigoWatchOptions extends Omit<Shared, 'config'> {
  readonly lumigoes: LumigoStore;
}

/** Every replica has this store, because its webhook decides by it. */
export class LumigoWatch implements Runnable {
  readonly name = 'Lumigo resources';
  /** Never resolves without the definition, so wait for it by `unlessAborted`. */
  readonly synced: Promise<void>;
  /** Resolves like `synced`, or if there is no definition yet. A removal must wait for `synced`. */
  readonly known: Promise<void>;
  /** A disconnected store may have objects that were deleted, or that a restored backup does not have. */
  isCurrent = false;
  readonly changed = new Topic<[namespace: string]>();
  /** Emits when the watch broke. The cause may have broken other watches, which do not report it. */
  readonly broken = new Topic();
  private onSynced: () => void = () => undefined;
  private onKnown: () => void = () => undefined;
  private isKnown = false;

  constructor(private readonly options: LumigoWatchOptions) {
    this.synced = new Promise((resolve) => (this.onSynced = resolve));
    this.known = new Promise((resolve) => (this.onKnown = resolve));
    void this.known.then(() => (this.isKnown = true));
  }

  unready = (): string[] => (this.isKnown ? [] : ['the Lumigo resources are not read yet']);

  run = async (signal: AbortSignal): Promise<void> => {
    const { transport, lumigoes, metrics, logger } = this.options;
    const watch = watchKind(contract, {
      transport,
      signal,
      logger,
      onCurrent: (isCurrent) => (this.isCurrent = isCurrent),
      onHeard: () => metrics.watchHeard.setToCurrentTime({ resource: contract.plural }),
      onRestart: (cause, error) => {
        metrics.watchRestarts.inc({ resource: contract.plural, cause });
        if (isNotFound(error)) this.onKnown();
        if (cause !== 'ended') this.broken.emit();
      },
      handler: {
        upsert: (object, isListed) => {
          const lumigo = object as unknown as LumigoResource;
          if (lumigoes.upsert(lumigo, isListed)) this.changed.emit(lumigo.metadata.namespace);
        },
        delete: ({ namespace = '', uid }) => {
          lumigoes.delete(namespace, uid);
          this.changed.emit(namespace);
        },
        known: () => lumigoes.known(),
      },
    });
    void watch.synced.then(() => {
      // The watch ended before the first list, so nothing is known.
      if (signal.aborted) return;
      this.onSynced();
      this.onKnown();
    });
    await watch.stopped;
  };
}

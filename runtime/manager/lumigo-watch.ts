import { Topic } from '../async/topic.ts';
import { lumigo as contract } from '../contract.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { isNotFound } from '../kubernetes/http/errors.ts';
import { CatchUp } from '../kubernetes/watch/catch-up.ts';
import { watchKind } from '../kubernetes/watch/watches.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { Runnable, Shared } from './runnable.ts';

interface LumigoWatchOptions extends Omit<Shared, 'config'> {
  readonly lumigoes: LumigoStore;
}

/** Keeps the store of Lumigo resources; every replica has one, since the webhook decides by it. */
export class LumigoWatch implements Runnable {
  readonly name = 'Lumigo resources';
  /** All Lumigo resources were told once. */
  readonly synced: Promise<void>;
  /**
   * As `synced`, or there is not even a definition of them: then there are none, and whoever installs the definition after the
   * manager does not wait for it in vain. To take anything from anybody, wait for `synced`.
   */
  readonly known: Promise<void>;
  /** Whether what was told is out of date: nobody's workload is changed by what may have been undone. */
  readonly catchUp = new CatchUp();
  /** The `Lumigo` resources of a namespace changed. */
  readonly changed = new Topic<[namespace: string]>();
  /** The watch broke. What broke it may have broken others for good, which do not report it. */
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
      ...{ transport, signal, logger },
      catchUp: this.catchUp,
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
      // An end before the first list is no knowledge.
      if (signal.aborted) return;
      this.onSynced();
      this.onKnown();
    });
    await watch.stopped;
  };
}

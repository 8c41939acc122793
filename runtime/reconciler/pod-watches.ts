import type { KubernetesObject } from '../kubernetes/resources/objects.ts';
import { Kept } from '../kubernetes/watch/kept.ts';
import type { ListWatch, ListWatchHandler } from '../kubernetes/watch/list-watch.ts';

/** Watches the pods of a namespace, until the signal is aborted. */
export type WatchPods = (namespace: string, handler: ListWatchHandler, signal: AbortSignal) => ListWatch;

interface Watched<T> {
  readonly pods: Kept<T>;
  readonly stop: AbortController;
  isSynced: boolean;
}

interface PodWatchesOptions<T> {
  readonly watch: WatchPods;
  /** What is kept of a pod; undefined: nothing. */
  readonly observe: (pod: KubernetesObject) => T | undefined;
  /** Something of a namespace's pods changed. */
  readonly onChange: (namespace: string) => void;
  /** Ends all of them. */
  readonly signal: AbortSignal;
  /** Namespaces beyond wait until others are done with; each takes a connection. */
  readonly most: number;
}

/** The pods of those namespaces in which somebody needs to know of them: a stream each, for as long as it lasts. */
export class PodWatches<T> {
  private readonly watched = new Map<string, Watched<T>>();

  constructor(private readonly options: PodWatchesOptions<T>) {}

  /** Whether the pods of a namespace are needed. */
  want(namespace: string, isNeeded: boolean): void {
    const watched = this.watched.get(namespace);
    if (isNeeded && watched === undefined && this.watched.size < this.options.most) this.begin(namespace);
    if (isNeeded || watched === undefined) return;
    watched.stop.abort();
    this.watched.delete(namespace);
  }

  /** Undefined until all are known. */
  in(namespace: string): readonly T[] | undefined {
    const watched = this.watched.get(namespace);
    return watched?.isSynced === true ? watched.pods.values() : undefined;
  }

  private begin(namespace: string): void {
    const { watch, observe, onChange } = this.options;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.options.signal]);
    const changed = (): void => {
      if (watched.isSynced && !signal.aborted) onChange(namespace);
    };
    const watched: Watched<T> = { pods: new Kept(observe, changed), stop, isSynced: false };
    this.watched.set(namespace, watched);
    void watch(namespace, watched.pods, signal).synced.then(() => {
      watched.isSynced = true;
      changed();
    });
  }
}

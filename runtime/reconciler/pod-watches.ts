import type { KubernetesObject } from '../kubernetes/resources/objects.ts';
import type { ListWatch, ListWatchHandler } from '../kubernetes/watch/list-watch.ts';
import { observePod } from '../rollout/observe-pod.ts';
import type { ObservedPod } from '../rollout/trial.ts';

/** Watches the pods of a namespace that carry an injection, until the signal is aborted. */
export type WatchPods = (namespace: string, handler: ListWatchHandler, signal: AbortSignal) => ListWatch;

interface Watched {
  readonly pods: Map<string, { readonly of: string; readonly pod: ObservedPod }>;
  readonly stop: AbortController;
  isSynced: boolean;
}

/** Namespaces beyond wait until others are done with; each takes a connection. */
const MOST = 50;

/** The pods of those namespaces in which an injection is on trial: a stream each, for as long as it lasts. */
export class PodWatches {
  readonly #watch: WatchPods;
  readonly #onChange: (namespace: string) => void;
  readonly #signal: AbortSignal;
  readonly #watched = new Map<string, Watched>();

  /** `signal` ends all of them. */
  constructor(watch: WatchPods, onChange: (namespace: string) => void, signal: AbortSignal) {
    this.#watch = watch;
    this.#onChange = onChange;
    this.#signal = signal;
  }

  /** Whether the pods of a namespace are needed. */
  want(namespace: string, isNeeded: boolean): void {
    const watched = this.#watched.get(namespace);
    if (isNeeded && watched === undefined && this.#watched.size < MOST) this.#begin(namespace);
    if (isNeeded || watched === undefined) return;
    watched.stop.abort();
    this.#watched.delete(namespace);
  }

  /** By workload (`Kind/name`); undefined until all are known. */
  in(namespace: string): ReadonlyMap<string, readonly ObservedPod[]> | undefined {
    const watched = this.#watched.get(namespace);
    if (watched?.isSynced !== true) return undefined;
    const found = new Map<string, ObservedPod[]>();
    for (const { of, pod } of watched.pods.values()) found.set(of, [...(found.get(of) ?? []), pod]);
    return found;
  }

  #begin(namespace: string): void {
    const stop = new AbortController();
    const watched: Watched = { pods: new Map(), stop, isSynced: false };
    this.#watched.set(namespace, watched);
    const signal = AbortSignal.any([stop.signal, this.#signal]);
    const changed = (): void => {
      if (watched.isSynced && !signal.aborted) this.#onChange(namespace);
    };
    const handler: ListWatchHandler = {
      upsert: (object) => {
        const seen = observePod(object as KubernetesObject);
        if (seen === undefined) watched.pods.delete(object.metadata.uid);
        else watched.pods.set(object.metadata.uid, seen);
        changed();
      },
      delete: ({ uid }) => {
        watched.pods.delete(uid);
        changed();
      },
      known: () => [...watched.pods].map(([uid, { pod }]) => ({ uid, namespace, name: pod.name })),
    };
    void this.#watch(namespace, handler, signal).synced.then(() => {
      watched.isSynced = true;
      changed();
    });
  }
}

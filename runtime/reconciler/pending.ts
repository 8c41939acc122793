import type { Metrics } from '../observability/metrics.ts';

/** How many workloads of each namespace wait for a change or are being changed: a metric, and how many namespaces share what is told. */
export class Pending {
  readonly #metric: Metrics['pendingChanges'];
  readonly #namespaces = new Set<string>();

  /** Who does not lead knows nothing of it. */
  constructor(metric: Metrics['pendingChanges'], signal: AbortSignal) {
    this.#metric = metric;
    signal.addEventListener('abort', () => metric.reset(), { once: true });
  }

  /** Namespaces in which there are any. */
  get namespaces(): number {
    return this.#namespaces.size;
  }

  note(namespace: string, workloads: number): void {
    if (workloads === 0) {
      this.#namespaces.delete(namespace);
      this.#metric.remove({ namespace });
    } else {
      this.#namespaces.add(namespace);
      this.#metric.set({ namespace }, workloads);
    }
  }
}

import type { Metrics } from '../observability/metrics.ts';

/** How many workloads of each namespace wait for a change or are being changed: a metric, and how many namespaces share what is told. */
export class Pending {
  private readonly waiting = new Set<string>();

  /** Who does not lead knows nothing of it. */
  constructor(
    private readonly metric: Metrics['pendingChanges'],
    signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => metric.reset(), { once: true });
  }

  /** Namespaces in which there are any. */
  get namespaces(): number {
    return this.waiting.size;
  }

  note(namespace: string, workloads: number): void {
    if (workloads === 0) {
      this.waiting.delete(namespace);
      this.metric.remove({ namespace });
    } else {
      this.waiting.add(namespace);
      this.metric.set({ namespace }, workloads);
    }
  }
}

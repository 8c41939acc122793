import type { RuntimeConfig } from '../config/config.ts';

type Pace = Pick<RuntimeConfig, 'rolloutConcurrent' | 'rolloutConcurrentPerNamespace' | 'rolloutSettleSeconds'>;

/** Returns a place; `changed` says whether the workload was written. */
type Leave = (changed: boolean) => void;

/** Bounds how many workloads change at the same time, in order of arrival. Otherwise a new `Lumigo` resource restarts all at once. */
export class Pacing {
  private readonly waiting: { readonly namespace: string; readonly enter: () => void }[] = [];
  /** Number of places by namespace. */
  private readonly taken = new Map<string, number>();
  private total = 0;

  constructor(private readonly pace: Pace) {}

  /** Resolves when a place in `namespace` is free, or the signal is aborted. */
  async enter(namespace: string, signal: AbortSignal): Promise<Leave> {
    if (this.hasPlace(namespace)) this.take(namespace, 1);
    else await this.turn(namespace, signal);
    return (changed) => {
      const settleMs = changed ? this.pace.rolloutSettleSeconds * 1_000 : 0;
      // The pods of a changed workload are being replaced, so it keeps its place for that time.
      if (settleMs === 0) this.leave(namespace);
      else setTimeout(() => this.leave(namespace), settleMs).unref();
    };
  }

  private turn(namespace: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const enter = (): void => {
        signal.removeEventListener('abort', enter);
        this.take(namespace, 1);
        resolve();
      };
      signal.addEventListener('abort', enter, { once: true });
      this.waiting.push({ namespace, enter });
    });
  }

  private hasPlace(namespace: string): boolean {
    const { rolloutConcurrent, rolloutConcurrentPerNamespace } = this.pace;
    return this.total < rolloutConcurrent && (this.taken.get(namespace) ?? 0) < rolloutConcurrentPerNamespace;
  }

  private take(namespace: string, by: 1 | -1): void {
    const taken = (this.taken.get(namespace) ?? 0) + by;
    this.total += by;
    if (taken === 0) this.taken.delete(namespace);
    else this.taken.set(namespace, taken);
  }

  private leave(namespace: string): void {
    this.take(namespace, -1);
    const next = this.waiting.findIndex((waiter) => this.hasPlace(waiter.namespace));
    if (next >= 0) this.waiting.splice(next, 1)[0]?.enter();
  }
}

import type { RuntimeConfig } from '../config/config.ts';

type Pace = Pick<RuntimeConfig, 'rolloutConcurrent' | 'rolloutConcurrentPerNamespace' | 'rolloutSettleSeconds'>;

/** Gives a place back; `changed` says whether anything was written. */
type Leave = (changed: boolean) => void;

/**
 * Hands out the places in which workloads change, first come, first served, so that switching a namespace on does not
 * restart everything at the same moment (unless the settings say so).
 */
export class Pacing {
  private readonly waiting: { namespace: string; enter: () => void }[] = [];
  private readonly taken = new Map<string, number>();
  private total = 0;

  constructor(private readonly pace: Pace) {}

  /** Resolves once a place in `namespace` is free, or the signal is aborted. */
  async enter(namespace: string, signal: AbortSignal): Promise<Leave> {
    if (this.hasPlace(namespace)) this.take(namespace);
    else await this.turn(namespace, signal);
    return (changed) => {
      const settleMs = changed ? this.pace.rolloutSettleSeconds * 1_000 : 0;
      // A changed workload keeps its place for a while: its pods are being replaced.
      if (settleMs === 0) this.leave(namespace);
      else setTimeout(() => this.leave(namespace), settleMs).unref();
    };
  }

  private turn(namespace: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const enter = (): void => {
        signal.removeEventListener('abort', enter);
        this.take(namespace);
        resolve();
      };
      // Whoever is told to stop needs no place any more.
      signal.addEventListener('abort', enter, { once: true });
      this.waiting.push({ namespace, enter });
    });
  }

  private hasPlace(namespace: string): boolean {
    const { rolloutConcurrent, rolloutConcurrentPerNamespace } = this.pace;
    return this.total < rolloutConcurrent && (this.taken.get(namespace) ?? 0) < rolloutConcurrentPerNamespace;
  }

  private take(namespace: string): void {
    this.total += 1;
    this.taken.set(namespace, (this.taken.get(namespace) ?? 0) + 1);
  }

  private leave(namespace: string): void {
    this.total -= 1;
    const left = (this.taken.get(namespace) ?? 1) - 1;
    if (left === 0) this.taken.delete(namespace);
    else this.taken.set(namespace, left);
    const next = this.waiting.findIndex((waiter) => this.hasPlace(waiter.namespace));
    if (next >= 0) this.waiting.splice(next, 1)[0]?.enter();
  }
}

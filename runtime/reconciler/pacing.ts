import type { RuntimeConfig } from '../config/config.ts';

type Pace = Pick<RuntimeConfig, 'rolloutConcurrent' | 'rolloutConcurrentPerNamespace' | 'rolloutSettleSeconds'>;

/** Returns a place; `changed` says whether the workload was written. */
type Leave = (changed: boolean) => void;

/** Bounds how many workloads change at the same time, in order of arrival. Otherwise a new `Lumigo` resource restarts all at once. */
export class Pacing {
  private readonly waiting: { readonly namespace: string; readonly enter: () => void }[] = [];
  /** The namespace of each place that is taken. */
  private readonly taken: string[] = [];

  constructor(private readonly pace: Pace) {}

  /** Resolves when a place in `namespace` is free. */
  enter(namespace: string): Promise<Leave> {
    return new Promise((resolve) => {
      this.waiting.push({ namespace, enter: () => resolve((changed) => this.leave(namespace, changed)) });
      this.admit();
    });
  }

  private leave(namespace: string, changed: boolean): void {
    const free = (): void => {
      this.taken.splice(this.taken.indexOf(namespace), 1);
      this.admit();
    };
    // The pods of a changed workload are being replaced, so it keeps its place for that time.
    const settleMs = changed ? this.pace.rolloutSettleSeconds * 1_000 : 0;
    if (settleMs === 0) free();
    else setTimeout(free, settleMs).unref();
  }

  private admit(): void {
    const next = this.waiting.findIndex(({ namespace }) => this.hasPlace(namespace));
    for (const { namespace, enter } of next < 0 ? [] : this.waiting.splice(next, 1)) {
      this.taken.push(namespace);
      enter();
    }
  }

  private hasPlace(namespace: string): boolean {
    const { rolloutConcurrent, rolloutConcurrentPerNamespace } = this.pace;
    const inNamespace = this.taken.filter((each) => each === namespace);
    return this.taken.length < rolloutConcurrent && inNamespace.length < rolloutConcurrentPerNamespace;
  }
}

/** A broken injector affects at most this number of namespaces before the cluster halts. */
export const MAX_NAMESPACES = 4;
/** Limits the delay that slow workloads cause for other namespaces. */
export const TURN_MS = 5 * 60_000;

/** The namespaces that may change workloads now, in the order in which they asked. */
export class NamespaceSlots {
  /** By namespace, the start of its turn; undefined while it waits. */
  private readonly namespaces = new Map<string, number | undefined>();
  private holders: string[] = [];

  constructor(private readonly onSlot: (namespace: string) => void) {}

  has(namespace: string): boolean {
    this.handOver();
    return this.holders.includes(namespace);
  }

  want(namespace: string, wants: boolean): void {
    if (!wants) this.namespaces.delete(namespace);
    else if (!this.namespaces.has(namespace)) this.namespaces.set(namespace, undefined);
    this.handOver();
  }

  /** A turn can also end by time, so each question may hand it over. */
  private handOver(): void {
    const now = performance.now();
    const before = this.holders;
    this.holders = [];
    for (const [namespace, since = now] of this.namespaces) {
      // Thousands may wait, and each plan asks.
      if (this.holders.length === MAX_NAMESPACES) break;
      const isOver = this.namespaces.size > MAX_NAMESPACES && now - since >= TURN_MS;
      if (isOver) this.namespaces.delete(namespace);
      else this.holders.push(namespace);
      this.namespaces.set(namespace, isOver ? undefined : since);
    }
    for (const each of this.holders) if (!before.includes(each)) this.onSlot(each);
  }
}

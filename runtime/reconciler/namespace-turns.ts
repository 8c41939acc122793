/** A broken injector affects at most this number of namespaces before the cluster halts. */
const MAX_NAMESPACES = 4;
/** Maximum time of a turn while other namespaces wait, so that slow workloads delay them no longer. */
const TURN_MS = 5 * 60_000;

/** The few namespaces in which something is changed, in order of arrival. */
export class NamespaceTurns {
  /** In order of arrival, with the time at which the turn began; undefined for a namespace that waits. */
  private readonly namespaces = new Map<string, number | undefined>();

  constructor(private readonly onTurn: (namespace: string) => void) {}

  has(namespace: string): boolean {
    return this.current().includes(namespace);
  }

  /** Notes whether a namespace has, or wants, a turn. */
  want(namespace: string, wants: boolean): void {
    const before = this.current();
    if (!wants) this.namespaces.delete(namespace);
    else if (!this.namespaces.has(namespace)) this.namespaces.set(namespace, undefined);
    for (const each of this.current()) if (!before.includes(each)) this.onTurn(each);
  }

  /** Moves each turn that is over to the end of the line, and begins the next ones. */
  private current(): string[] {
    const now = performance.now();
    const first = () => [...this.namespaces.keys()].slice(0, MAX_NAMESPACES);
    const isOver = (namespace: string) => now - (this.namespaces.get(namespace) ?? now) >= TURN_MS;
    for (const namespace of this.namespaces.size > MAX_NAMESPACES ? first().filter(isOver) : []) {
      this.namespaces.delete(namespace);
      this.namespaces.set(namespace, undefined);
    }
    const current = first();
    for (const each of current) this.namespaces.set(each, this.namespaces.get(each) ?? now);
    return current;
  }
}

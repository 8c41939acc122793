/** A broken injector affects at most this number of namespaces before the cluster halts. */
const MAX_NAMESPACES = 4;
/** Maximum time of a turn while other namespaces wait, so that slow workloads delay them no longer. */
const TURN_MS = 5 * 60_000;

/** The few namespaces in which something is changed, in order of arrival. */
export class NamespaceTurns {
  /** By namespace, when its turn began; undefined while it waits. */
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

  /** A turn that is over moves to the end of the line. */
  private current(): string[] {
    const now = performance.now();
    const first = () => [...this.namespaces].slice(0, MAX_NAMESPACES);
    for (const [namespace, since = now] of first())
      if (this.namespaces.size > MAX_NAMESPACES && now - since >= TURN_MS) {
        this.namespaces.delete(namespace);
        this.namespaces.set(namespace, undefined);
      }
    return first().map(([namespace, since = now]) => {
      this.namespaces.set(namespace, since);
      return namespace;
    });
  }
}

/** What breaks at once may break in so many namespaces at the most before the cluster halts. */
const AT_ONCE = 4;

/** In which namespaces something is changed: a few at a time, first come, first served, each until it is done or halts. */
export class NamespaceTurns {
  /** In the order in which they came; the first few have a turn. */
  private readonly namespaces = new Set<string>();

  constructor(private readonly onTurn: (namespace: string) => void) {}

  has(namespace: string): boolean {
    return this.current().includes(namespace);
  }

  /** Whether a namespace has, or wants, a turn. */
  want(namespace: string, wants: boolean): void {
    const before = this.current();
    if (wants) this.namespaces.add(namespace);
    else this.namespaces.delete(namespace);
    for (const each of this.current()) if (!before.includes(each)) this.onTurn(each);
  }

  private current(): string[] {
    return [...this.namespaces].slice(0, AT_ONCE);
  }
}

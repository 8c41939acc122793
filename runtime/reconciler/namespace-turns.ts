/** What breaks at once may break in so many namespaces at the most before the cluster halts. */
const AT_ONCE = 4;
/** So long a namespace keeps its turn while others wait: what is slow, or made to be slow, delays them no longer. */
const TURN_MS = 5 * 60_000;

/** In which namespaces something is changed: a few at a time, first come, first served, each for a bounded time. */
export class NamespaceTurns {
  /** In the order in which they came, with the time since which each has its turn. The first few have one. */
  private readonly namespaces = new Map<string, number | undefined>();

  constructor(
    private readonly onTurn: (namespace: string) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

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

  private current(): string[] {
    const now = this.now();
    const isOver = ([, since]: readonly [string, number | undefined]): boolean =>
      since !== undefined && now - since >= TURN_MS;
    for (const [namespace, since] of [...this.namespaces].slice(0, AT_ONCE))
      if (this.namespaces.size > AT_ONCE && isOver([namespace, since])) {
        this.namespaces.delete(namespace);
        this.namespaces.set(namespace, undefined);
      }
    const first = [...this.namespaces.keys()].slice(0, AT_ONCE);
    for (const namespace of first)
      if (this.namespaces.get(namespace) === undefined) this.namespaces.set(namespace, now);
    return first;
  }
}

/** What identifies an object of one kind, in this life of it. */
export interface Identity {
  /** Empty for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

type Shown = Partial<Identity>;

/**
 * Finds the deletions that nobody told of while the watch was away: what the caller holds and a complete list does not
 * show. It points at the caller's own records for as long as the list runs, so there is no second copy of them; the
 * first list, when the caller holds nothing, costs nothing.
 */
export class Relist {
  readonly #unseen = new Map<string, Identity>();

  constructor(known: Iterable<Identity>) {
    for (const identity of known) this.#unseen.set(keyOf(identity), identity);
  }

  /** Takes note that the object is there. Returns the one that it replaced: same name, deleted and made again meanwhile. */
  see(shown: Shown): Identity | undefined {
    const key = keyOf(shown);
    const before = this.#unseen.get(key);
    this.#unseen.delete(key);
    return before === undefined || before.uid === shown.uid ? undefined : before;
  }

  /** What is held and was not shown. Ask once the list is complete. */
  missing(): Iterable<Identity> {
    return this.#unseen.values();
  }
}

const keyOf = ({ namespace = '', name = '' }: Shown): string => `${namespace}/${name}`;

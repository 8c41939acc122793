import type { KubernetesObject } from '../resources/objects.ts';
import type { Identity, ListWatchHandler } from './watch-position.ts';

/** Keeps a part of each object that a list-watch shows, for as long as it is there. */
export class Kept<T> implements ListWatchHandler {
  private readonly kept = new Map<string, Identity & { readonly value: T }>();

  /**
   * @param observe what is kept of an object; undefined: nothing
   * @param onChange told of what is kept, each time that it is shown, and as it was before; now undefined: it is kept no more
   */
  constructor(
    private readonly observe: (object: KubernetesObject) => T | undefined,
    private readonly onChange: (now: T | undefined, before: T | undefined) => void,
  ) {}

  values(): readonly T[] {
    return [...this.kept.values()].map(({ value }) => value);
  }

  upsert(object: KubernetesObject): void {
    const { namespace = '', name, uid } = object.metadata;
    const value = this.observe(object);
    if (value === undefined) return this.delete({ uid });
    const before = this.kept.get(uid)?.value;
    this.kept.set(uid, { namespace, name, uid, value });
    this.onChange(value, before);
  }

  delete({ uid }: Pick<Identity, 'uid'>): void {
    const before = this.kept.get(uid)?.value;
    if (this.kept.delete(uid)) this.onChange(undefined, before);
  }

  known(): Iterable<Identity> {
    return this.kept.values();
  }
}

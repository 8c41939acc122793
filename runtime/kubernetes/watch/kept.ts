import type { KubernetesObject } from '../resources/objects.ts';
import type { Identity, ListWatchHandler } from './watch-position.ts';

export class Kept<T> implements ListWatchHandler {
  private readonly kept = new Map<string, Identity & { readonly value: T }>();

  /** `onChange` is called each time that a kept object is shown. `now` is undefined when it is no longer kept. */
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

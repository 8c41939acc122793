/** The one with this name that counts: of several environment variables of a name the last one wins. */
export const lastNamed = <T extends { readonly name: string }>(list: readonly T[] = [], name: string): T | undefined =>
  list.findLast((item) => item.name === name);

/** Puts `item` where the last one for which `same` holds stands, or at the end. */
export function upsert<T>(list: readonly T[] = [], item: T, same: (other: T) => boolean): readonly T[] {
  const index = list.findLastIndex(same);
  return index < 0 ? [...list, item] : list.with(index, item);
}

/** A copy without the keys whose value is undefined, an empty list or an empty map: the API server shows none of those. */
export function withoutEmpty<T extends object>(object: T, keys: readonly (keyof T)[]): T {
  const copy = { ...object };
  for (const key of keys) {
    const value: unknown = copy[key];
    if (value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0))
      delete copy[key];
  }
  return copy;
}

/** Whether two JSON values are the same, whatever the order of their keys. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (Array.isArray(b)) return false;
  return sameMembers(a, b);
}

function sameMembers(a: object, b: object): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every(
      (key) => Object.hasOwn(b, key) && equal((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
    )
  );
}

/** Whether `actual` has everything that `wanted` has; it may have more (what the API server fills in, what others add). */
export function covers(actual: unknown, wanted: unknown): boolean {
  if (actual === wanted) return true;
  if (typeof actual !== 'object' || typeof wanted !== 'object' || actual === null || wanted === null) return false;
  if (Array.isArray(wanted))
    return Array.isArray(actual) && wanted.every((item) => actual.some((other) => covers(other, item)));
  return Object.keys(wanted).every(
    (key) =>
      Object.hasOwn(actual, key) &&
      covers((actual as Record<string, unknown>)[key], (wanted as Record<string, unknown>)[key]),
  );
}

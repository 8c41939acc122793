type Fields = Readonly<Record<string, unknown>>;

/** A member of an object read from JSON; never what objects inherit, since users choose names such as `constructor`. */
export const member = (object: object, key: string): unknown =>
  Object.hasOwn(object, key) ? (object as Fields)[key] : undefined;

/** The one with this name that counts: of several environment variables of a name the last one wins. */
export const lastNamed = <T extends { readonly name: string }>(list: readonly T[] = [], name: string): T | undefined =>
  list.findLast((item) => item.name === name);

/** Puts `item` where the last one for which `same` holds stands, or at the end. */
export function upsert<T>(list: readonly T[] = [], item: T, same: (other: T) => boolean): readonly T[] {
  const index = list.findLastIndex(same);
  return index < 0 ? [...list, item] : list.with(index, item);
}

/** A copy without those of `keys` whose value is undefined, an empty list or an empty map: the API server shows none of these. */
export function withoutEmpty<T extends object>(object: T, keys: readonly (keyof T)[]): T {
  const copy = { ...object };
  for (const key of keys) if (isEmpty(copy[key])) delete copy[key];
  return copy;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0;
}

/** Whether two JSON values are the same, whatever the order of their keys. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a))
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equal(item, b[index]));
  return !Array.isArray(b) && sameMembers(a as Fields, b as Fields);
}

function sameMembers(a: Fields, b: Fields): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]))
  );
}

/** Whether `actual` has everything that `wanted` has; it may have more (what the API server fills in, what others add). */
export function covers(actual: unknown, wanted: unknown): boolean {
  if (actual === wanted) return true;
  if (typeof actual !== 'object' || typeof wanted !== 'object' || actual === null || wanted === null) return false;
  if (Array.isArray(wanted))
    return Array.isArray(actual) && wanted.every((item) => actual.some((other) => covers(other, item)));
  return Object.entries(wanted).every(([key, value]) => covers(member(actual, key), value));
}

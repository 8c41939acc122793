/** The one with this name that counts: of several environment variables of a name the last one wins. */
export const lastNamed = <T extends { readonly name: string }>(list: readonly T[] = [], name: string): T | undefined =>
  list.findLast((item) => item.name === name);

/** Puts `item` where the last one for which `same` holds stands, or at the end. */
export function upsert<T>(list: readonly T[] = [], item: T, same: (other: T) => boolean): readonly T[] {
  const index = list.findLastIndex(same);
  return index < 0 ? [...list, item] : list.with(index, item);
}

export type JsonMap = Readonly<Record<string, unknown>>;

export const isMap = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Returns the number at a key; `fallback` for anything else. */
export const numberAt = (map: JsonMap, key: string, fallback = 0): number => {
  const value = map[key];
  return typeof value === 'number' ? value : fallback;
};

/** Returns the map at a key; an empty one for anything else. */
export const mapAt = (map: JsonMap, key: string): JsonMap => {
  const value = map[key];
  return isMap(value) ? value : {};
};

/** A copy of a map with this entry; without it where the value is undefined. */
export function withEntry(map: Readonly<Record<string, string>> = {}, key: string, value: string | undefined) {
  if (value !== undefined) return { ...map, [key]: value };
  const { [key]: _gone, ...rest } = map;
  return rest;
}

/** The object without those of these keys whose value is undefined, an empty list or an empty map: the API server shows none of those. */
export function withoutEmpty<T extends object>(object: T, keys: readonly (keyof T)[]): T {
  const empty = keys.filter((key) => Object.hasOwn(object, key) && isEmpty(object[key]));
  if (empty.length === 0) return object;
  // Not by `delete`, which makes an object slow for good.
  return Object.fromEntries(Object.entries(object).filter(([key]) => !empty.includes(key as keyof T))) as T;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Whether two JSON values are the same, whatever the order of their keys. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (!isMap(a) || !isMap(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

/** Whether `actual` has everything that `wanted` has; it may have more (what the API server fills in, what others add). */
export function covers(actual: unknown, wanted: unknown): boolean {
  if (actual === wanted) return true;
  if (Array.isArray(actual) && Array.isArray(wanted))
    return wanted.every((item) => actual.some((other) => covers(other, item)));
  if (!isMap(actual) || !isMap(wanted)) return false;
  return Object.keys(wanted).every((key) => Object.hasOwn(actual, key) && covers(actual[key], wanted[key]));
}

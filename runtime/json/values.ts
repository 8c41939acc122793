/** Returns undefined if the action throws, as when a text cannot be parsed or a file cannot be read. */
export function orUndefined<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

export type JsonMap = Readonly<Record<string, unknown>>;

export const isPlainObject = (value: unknown): value is JsonMap =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const numberAt = (map: JsonMap, key: string, fallback = 0): number =>
  typeof map[key] === 'number' ? map[key] : fallback;

export const mapAt = (map: JsonMap, key: string): JsonMap => (isPlainObject(map[key]) ? map[key] : {});

/** Returns the object without these keys if they are undefined or empty, as the API server omits them. */
export function withoutEmpty<T extends object>(object: T, keys: readonly (keyof T)[]): T {
  const isKept = ([key, value]: [string, unknown]) => !keys.includes(key as keyof T) || !isEmpty(value);
  // No `delete`, which slows down an object permanently.
  return Object.fromEntries(Object.entries(object).filter(isKept)) as T;
}

const isEmpty = (value: unknown): boolean =>
  value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);

/** Several times faster than `isDeepStrictEqual`, for reviews. */
export function equal(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => equal(item, b[index]));
  if (!isPlainObject(a) || !isPlainObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal(a[key], b[key]));
}

const wide = new WeakMap<object, readonly string[]>();

/** Returns whether `actual` has everything that `wanted` has. Its maps may have more, such as defaults of the API server. */
export function covers(actual: unknown, wanted: unknown): boolean {
  if (!isPlainObject(actual) || !isPlainObject(wanted)) return equal(actual, wanted);
  const keys = wide.get(wanted) ?? Object.keys(wanted);
  // Lists a wide map once, because a tenant can forge one that is compared hundreds of times.
  if (keys.length > 16) wide.set(wanted, keys);
  for (const key of keys) if (!Object.hasOwn(actual, key) || !covers(actual[key], wanted[key])) return false;
  return true;
}

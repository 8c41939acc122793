import { isPlainObject } from './values.ts';

/** Checks for JSON values from untrusted clients. The webhook runs those of a template in about 10 µs. */
export type Check = (value: unknown) => boolean;

export const text: Check = (value) => typeof value === 'string';
export const number: Check = (value) => typeof value === 'number';
export const flag: Check = (value) => typeof value === 'boolean';

export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

export const mapOf =
  (check: Check): Check =>
  (value) => {
    if (!isPlainObject(value)) return false;
    // Makes neither a list nor a closure per map. Parsed JSON has no enumerable inherited keys.
    for (const key in value) if (!check(value[key])) return false;
    return true;
  };

/** Returns a check for a map with the `required` fields. Any other fields may be there as well. */
export function form(required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check {
  const must = Object.entries(required);
  const may = Object.entries(optional);
  return (value) =>
    isPlainObject(value) &&
    must.every(([name, check]) => check(value[name])) &&
    may.every(([name, check]) => value[name] === undefined || check(value[name]));
}

/** No object of Kubernetes is as deep. Recursion into a crafted one, as of `JSON.stringify`, would overflow the stack. */
export const isShallow = (value: unknown, levels = 100): boolean =>
  typeof value !== 'object' ||
  value === null ||
  (levels > 0 && Object.values(value).every((each) => isShallow(each, levels - 1)));

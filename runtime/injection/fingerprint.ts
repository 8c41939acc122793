import { hash } from 'node:crypto';
import { isPlainObject } from '../json/values.ts';

/**
 * Returns 16 hexadecimal digits of a JSON value. The order of keys, nulls and empty values do not count, because the API
 * server adds and removes them.
 */
export const fingerprint = (value: unknown): string => hash('sha256', canonical(value, 0)).slice(0, 16);

/** No object of the API server is as deep. A crafted one could overflow the stack. */
const DEEPEST = 100;

function canonical(value: unknown, depth: number): string {
  if (depth > DEEPEST) return '…';
  const inner = (item: unknown): string => canonical(item, depth + 1);
  if (Array.isArray(value)) return value.length === 0 ? '' : `[${value.map(inner).join(',')}]`;
  if (!isPlainObject(value)) return value === null || value === undefined ? '' : JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => [key, inner(value[key])] as const)
    .filter(([, text]) => text !== '');
  return entries.length === 0 ? '' : `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

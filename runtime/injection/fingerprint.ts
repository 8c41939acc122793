import { isMap } from '../json/values.ts';

/**
 * A short text that differs where two JSON values differ. The order of keys does not count, nor do nulls and what is empty: the
 * API server shows the same object with and without them. It keeps nobody from making two that are the same; nothing hangs on that.
 */
export function fingerprint(value: unknown): string {
  const text = canonical(value);
  let [low, high] = [0x811c9dc5, 0xdeadbeef];
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x5bd1e995);
  }
  return [low, high].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

/** Deeper than any object that an API server shows; but anybody may write one, and JSON can be as deep as it is long. */
const DEEPEST = 100;

function canonical(value: unknown, depth = 0): string {
  if (depth > DEEPEST) return '…';
  const inner = (item: unknown): string => canonical(item, depth + 1);
  if (Array.isArray(value)) return value.length === 0 ? '' : `[${value.map(inner).join(',')}]`;
  if (!isMap(value)) return value === null || value === undefined ? '' : JSON.stringify(value);
  const entries = Object.keys(value)
    .sort()
    .map((key) => [key, inner(value[key])] as const)
    .filter(([, text]) => text !== '');
  return entries.length === 0 ? '' : `{${entries.map(([key, text]) => `${JSON.stringify(key)}:${text}`).join(',')}}`;
}

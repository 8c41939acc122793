import { createHash } from 'node:crypto';
import { tokenScheme } from '../contract.ts';

/**
 * Returns `;HASH/NAMESPACE;` for each namespace of a token, and `;HASH=NAMESPACE;` for a token of only one. HASH is that
 * of the Authorization header, in hexadecimal, because no configuration may contain a token that it does not send.
 */
export function toTokenNamespaces(accepted: Iterable<readonly [token: string, namespace: string]>): string {
  const namespaces = new Map<string, Set<string>>();
  for (const [token, namespace] of accepted) namespaces.set(token, (namespaces.get(token) ?? new Set()).add(namespace));
  const entries = [...namespaces].flatMap(([token, names]) => {
    const hash = createHash('sha256').update(`${tokenScheme} ${token}`).digest('hex');
    return [...names].flatMap((name) => [`${hash}/${name}`, ...(names.size === 1 ? [`${hash}=${name}`] : [])]);
  });
  return ['', ...entries.toSorted(), ''].join(';');
}

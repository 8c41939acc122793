import { createHash } from 'node:crypto';
import { tokenScheme } from '../contract.ts';
import { isUnread, type Credential } from '../credentials/credential.ts';

/** A replaced token is accepted for this time, because running pods read it at their start. */
const TRANSITION_MS = 60 * 60_000;

/** Otherwise a tenant who replaces a token often could fill the collector's memory. */
const MAX_FORMER = 3;

/** The time until which each token is accepted. That of the Secret is the last one, and has no end. */
type Accepted = ReadonlyMap<string, number>;

export class TokenCache {
  private entries: ReadonlyMap<string, Accepted> = new Map();

  /** Returns the accepted tokens, sorted. `credentials`: by namespace for a `Lumigo`, by place for opt-ins. */
  acceptsSenders(credentials: ReadonlyMap<string, Credential | undefined>, now: number): readonly string[] {
    this.entries = new Map([...credentials].map(([at, found]) => [at, accept(found, this.entries.get(at), now)]));
    return [...new Set([...this.accepted()].map(([token]) => token))].toSorted();
  }

  *accepted(): Iterable<readonly [token: string, namespace: string]> {
    for (const [entry, tokens] of this.entries)
      for (const token of tokens.keys()) yield [token, entry.split('/', 1)[0] ?? ''];
  }
}

/** A Secret that is not read says nothing about its tokens. One without a token loses the former ones, too. */
function accept(credential: Credential | undefined, before: Accepted = new Map(), now: number): Accepted {
  if (isUnread(credential)) return before;
  const token = credential?.token;
  if (token === undefined) return new Map();
  const former = [...before]
    .filter(([each, until]) => each !== token && until > now)
    .map(([each, until]) => [each, Math.min(until, now + TRANSITION_MS)] as const);
  return new Map([...former.slice(-MAX_FORMER), [token, Infinity]]);
}

/** Returns the unread places of the start, each with its end in an hour. A tenant could delay it with new ones, so none counts. */
export function stillUnread(before: ReadonlyMap<string, number> | undefined, unread: readonly string[], now: number) {
  const getEnd = (place: string) => (before === undefined ? now + TRANSITION_MS : (before.get(place) ?? now));
  return new Map(unread.map((place) => [place, getEnd(place)] as const).filter(([, end]) => end > now));
}

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

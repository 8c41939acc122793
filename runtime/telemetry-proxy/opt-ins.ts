import { labels, optInDefaults, type WorkloadKind } from '../contract.ts';
import { labelOf } from '../injection/stamp.ts';
import type { Metadata } from '../injection/types.ts';
import type { TokenSource } from './token-book.ts';

interface Seen {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly source: TokenSource;
}

/** The workloads that are traced by their own labels, without a Lumigo in their namespace, and where their tokens stand. */
export class OptIns {
  readonly #byKind = new Map<WorkloadKind, Map<string, Seen>>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** What a watch of one kind tells it. */
  handler(kind: WorkloadKind) {
    const seen = new Map<string, Seen>();
    this.#byKind.set(kind, seen);
    const forget = (key: string): void => {
      if (seen.delete(key)) this.#onChange();
    };
    return {
      upsert: ({ metadata }: { metadata: Metadata }) => {
        const { namespace = '', name = '', uid = '' } = metadata;
        const key = `${namespace}/${name}`;
        const source = sourceOf(metadata);
        if (source === undefined) return forget(key);
        const before = seen.get(key)?.source;
        seen.set(key, { namespace, name, uid, source });
        if (JSON.stringify(before) !== JSON.stringify(source)) this.#onChange();
      },
      delete: ({ namespace = '', name = '' }: { namespace?: string; name?: string }) => forget(`${namespace}/${name}`),
      known: () => seen.values(),
    };
  }

  /** Where the tokens of those stand that `counts` admits. */
  *sources(counts: (namespace: string) => boolean): Iterable<TokenSource> {
    for (const seen of this.#byKind.values())
      for (const { namespace, source } of seen.values()) if (counts(namespace)) yield source;
  }
}

function sourceOf(metadata: Metadata): TokenSource | undefined {
  if (labelOf(metadata)?.toLowerCase() !== 'true') return undefined;
  const given = metadata.labels ?? {};
  return {
    namespace: metadata.namespace ?? '',
    name: given[labels.tokenSecret] ?? optInDefaults.tokenSecret,
    key: given[labels.tokenKey] ?? optInDefaults.tokenKey,
  };
}

import type { WorkloadKind } from '../contract.ts';
import type { TokenSource } from '../credentials/credential.ts';
import { ownerOf } from '../injection/reach.ts';
import { optInOf } from '../injection/stamp.ts';
import type { Metadata } from '../injection/types.ts';

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
        // A Deployment hands its annotations on to its ReplicaSets, which are no opt-ins of their own.
        const source = ownerOf(kind.kind, metadata) === undefined ? sourceOf(metadata) : undefined;
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
  const optIn = optInOf(metadata);
  if (optIn === undefined) return undefined;
  const { namespace = '', uid = '', generation = 0 } = metadata;
  // Whoever rolls it out may do so because another token stands in the Secret now.
  return { namespace, name: optIn.secretName, key: optIn.secretKey, revision: `${uid}/${generation}` };
}

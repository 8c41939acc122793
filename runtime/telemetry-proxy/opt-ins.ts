import { isDeepStrictEqual } from 'node:util';
import type { WorkloadKind } from '../contract.ts';
import type { TokenSource } from '../credentials/credential.ts';
import { ownerOf } from '../injection/eligibility.ts';
import { optInOf } from '../injection/stamp.ts';
import type { Metadata } from '../injection/types.ts';
import { Kept } from '../kubernetes/watch/kept.ts';

/** The workloads that are traced by their own labels, without a Lumigo in their namespace, and where their tokens stand. */
export class OptIns {
  private readonly kept: Kept<TokenSource>[] = [];

  constructor(private readonly onChange: () => void) {}

  /** What a watch of one kind tells it. */
  handler({ kind }: WorkloadKind): Kept<TokenSource> {
    const kept = new Kept<TokenSource>(
      // A Deployment hands its annotations on to its ReplicaSets, which are no opt-ins of their own.
      ({ metadata }) => (ownerOf(kind, metadata) === undefined ? sourceOf(metadata) : undefined),
      (now, before) => {
        if (!isDeepStrictEqual(now, before)) this.onChange();
      },
    );
    this.kept.push(kept);
    return kept;
  }

  /** Where the tokens of those stand that `counts` admits. */
  *sources(counts: (namespace: string) => boolean): Iterable<TokenSource> {
    for (const kept of this.kept) for (const source of kept.values()) if (counts(source.namespace)) yield source;
  }
}

function sourceOf(metadata: Metadata): TokenSource | undefined {
  const optIn = optInOf(metadata);
  if (optIn === undefined) return undefined;
  const { namespace = '', uid = '', generation = 0 } = metadata;
  // Whoever rolls it out may do so because another token stands in the Secret now.
  return { namespace, name: optIn.secretName, key: optIn.secretKey, revision: `${uid}/${generation}` };
}

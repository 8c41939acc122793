import { isDeepStrictEqual } from 'node:util';
import type { WorkloadKind } from '../contract.ts';
import type { TokenSource } from '../credentials/credential.ts';
import { findOwner } from '../injection/eligibility.ts';
import { holds } from '../injection/policy.ts';
import { findOptIn } from '../injection/injection-status.ts';
import type { Metadata } from '../api/objects.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { Sent } from './types.ts';
import { Kept } from '../kubernetes/watch/kept.ts';

/** An inactive `Lumigo` accepts no sender. One that is being deleted accepts senders, and collects no more. */
export function getTelemetry(effective: LumigoResource | undefined): {
  acceptsSenders: boolean;
  collect: readonly Sent[];
} {
  if (effective === undefined) return { acceptsSenders: false, collect: [] };
  if (effective.metadata.deletionTimestamp !== undefined) return { acceptsSenders: true, collect: [] };
  const active = holds(effective.status, 'Active');
  return { acceptsSenders: active, collect: active ? wantedFrom(effective) : [] };
}

const wantedFrom = (effective: LumigoResource): readonly Sent[] => [
  ...(wantsEvents(effective) ? ['events' as const] : []),
  ...(effective.spec?.logging?.enabled === true ? ['logFiles' as const] : []),
];

const wantsEvents = ({ spec }: LumigoResource): boolean =>
  spec?.infrastructure?.enabled !== false && spec?.infrastructure?.kubeEvents?.enabled !== false;

export class OptIns {
  private readonly kept: Kept<TokenSource>[] = [];

  constructor(private readonly onChange: () => void) {}

  handler({ kind }: WorkloadKind): Kept<TokenSource> {
    const kept = new Kept<TokenSource>(
      // A Deployment's ReplicaSets inherit its annotations. They did not opt in themselves.
      ({ metadata }) => (findOwner(kind, metadata) === undefined ? optedIn(metadata) : undefined),
      (now, before) => {
        if (!isDeepStrictEqual(now, before)) this.onChange();
      },
    );
    this.kept.push(kept);
    return kept;
  }

  *sources(counts: (namespace: string) => boolean): Iterable<TokenSource> {
    for (const kept of this.kept) for (const source of kept.values()) if (counts(source.namespace)) yield source;
  }
}

function optedIn(metadata: Metadata): TokenSource | undefined {
  const optIn = findOptIn(metadata);
  if (optIn === undefined) return undefined;
  const { namespace = '', uid = '', generation = 0 } = metadata;
  // A rollout may follow a new token in the Secret.
  return { namespace, name: optIn.secretName, key: optIn.secretKey, revision: `${uid}/${generation}` };
}

/** A replaced token is accepted for this time, because running pods read it at their start. */
const TRANSITION_MS = 60 * 60_000;

interface Entry {
  readonly token: string | undefined;
  /** The time until which each former token is accepted. */
  readonly former: ReadonlyMap<string, number>;
}

export class TokenCache {
  private entries: ReadonlyMap<string, Entry> = new Map();

  /** Returns the accepted tokens, sorted. A source without a token loses its former ones, too. */
  acceptsSenders(tokens: ReadonlyMap<string, string | undefined>, now: number): readonly string[] {
    this.entries = new Map(
      [...tokens].map(([source, token]) => [source, getEntry(token, this.entries.get(source), now)]),
    );
    return [...new Set([...this.accepted()].map(([token]) => token))].toSorted();
  }

  *accepted(): Iterable<readonly [token: string, source: string]> {
    for (const [source, { token, former }] of this.entries)
      for (const each of [token ?? [], ...former.keys()].flat()) yield [each, source];
  }
}

function getEntry(token: string | undefined, before: Entry | undefined, now: number): Entry {
  if (token === undefined || before === undefined) return { token, former: new Map() };
  const former = [...before.former].filter(([, until]) => until > now);
  if (before.token !== undefined && before.token !== token) former.push([before.token, now + TRANSITION_MS]);
  return { token, former: new Map(former) };
}

import { isDeepStrictEqual } from 'node:util';
import type { WorkloadKind } from '../contract.ts';
import type { TokenSource } from '../credentials/credential.ts';
import { ownerOf } from '../injection/eligibility.ts';
import { holds } from '../injection/policy.ts';
import { optInOf } from '../injection/stamp.ts';
import type { Metadata } from '../api/objects.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { Kept } from '../kubernetes/watch/kept.ts';

/**
 * Returns what the effective `Lumigo` of a namespace means for its telemetry: if its token is accepted, and if its events and object
 * versions are sent. An inactive one accepts no sender. One that is being deleted collects no more.
 */
export function telemetryOf(acting: LumigoResource | undefined): { letIn: boolean; collect: boolean } {
  if (acting === undefined) return { letIn: false, collect: false };
  if (acting.metadata.deletionTimestamp !== undefined) return { letIn: true, collect: false };
  const active = holds(acting.status, 'Active');
  return { letIn: active, collect: active && wantsEvents(acting) };
}

/** Missing fields mean true. */
const wantsEvents = ({ spec }: LumigoResource): boolean =>
  spec?.infrastructure?.enabled !== false && spec?.infrastructure?.kubeEvents?.enabled !== false;

/** The workloads that opted in by label in a namespace without a `Lumigo`, and where their tokens are. */
export class OptIns {
  private readonly kept: Kept<TokenSource>[] = [];

  constructor(private readonly onChange: () => void) {}

  /** Returns the handler for the watch of one kind. */
  handler({ kind }: WorkloadKind): Kept<TokenSource> {
    const kept = new Kept<TokenSource>(
      // A Deployment's ReplicaSets inherit its annotations. They did not opt in themselves.
      ({ metadata }) => (ownerOf(kind, metadata) === undefined ? optedIn(metadata) : undefined),
      (now, before) => {
        if (!isDeepStrictEqual(now, before)) this.onChange();
      },
    );
    this.kept.push(kept);
    return kept;
  }

  /** Returns where the tokens are, of the namespaces that `counts` accepts. */
  *sources(counts: (namespace: string) => boolean): Iterable<TokenSource> {
    for (const kept of this.kept) for (const source of kept.values()) if (counts(source.namespace)) yield source;
  }
}

function optedIn(metadata: Metadata): TokenSource | undefined {
  const optIn = optInOf(metadata);
  if (optIn === undefined) return undefined;
  const { namespace = '', uid = '', generation = 0 } = metadata;
  // A rollout may follow a new token in the Secret.
  return { namespace, name: optIn.secretName, key: optIn.secretKey, revision: `${uid}/${generation}` };
}

/** A token that was replaced in its Secret is accepted for this time, because pods that run took it when they started. */
const TRANSITION_MS = 60 * 60_000;

interface Entry {
  readonly token: string | undefined;
  /** Tokens that were in the Secret before, and until when they are accepted. */
  readonly former: ReadonlyMap<string, number>;
}

/** The tokens that are accepted: those in the Secrets, and for a while those that were there before. */
export class TokenCache {
  private entries: ReadonlyMap<string, Entry> = new Map();

  /**
   * Takes the present token of each source (undefined: none that is valid), and returns the accepted ones, sorted. A source that is
   * missing or has no token loses its former tokens as well.
   * @param now milliseconds of any clock
   */
  letIn(tokens: ReadonlyMap<string, string | undefined>, now: number): readonly string[] {
    this.entries = new Map(
      [...tokens].map(([source, token]) => [source, entryOf(token, this.entries.get(source), now)]),
    );
    const all = [...this.entries.values()].flatMap(({ token, former }) => [token ?? [], ...former.keys()].flat());
    return [...new Set(all)].toSorted();
  }
}

function entryOf(token: string | undefined, before: Entry | undefined, now: number): Entry {
  if (token === undefined || before === undefined) return { token, former: new Map() };
  const former = [...before.former].filter(([, until]) => until > now);
  if (before.token !== undefined && before.token !== token) former.push([before.token, now + TRANSITION_MS]);
  return { token, former: new Map(former) };
}

import type { WorkloadKind } from '../contract.ts';
import { isUnread, type Credential, type TokenSource } from '../credentials/credential.ts';
import { findOwner } from '../injection/eligibility.ts';
import { ourLabel } from '../injection/label.ts';
import { holds } from '../injection/policy.ts';
import { findOptIn } from '../injection/injection-status.ts';
import type { Metadata } from '../api/objects.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import type { Sent } from './types.ts';
import type { KubernetesObject } from '../kubernetes/resources/objects.ts';

/** An inactive `Lumigo` accepts no sender. One that is being deleted accepts senders, and collects no more. */
export function getTelemetry(effective: LumigoResource): { acceptsSenders: boolean; collect: readonly Sent[] } {
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

/** A workload with the label `lumigo.auto-trace`. */
export interface Labelled {
  readonly namespace: string;
  readonly uid: string;
  readonly name: string;
  readonly isInstrumented: boolean;
  readonly optIn: TokenSource | undefined;
}

export function toLabelled({ kind }: WorkloadKind, metadata: KubernetesObject['metadata']): Labelled | undefined {
  // A Deployment's ReplicaSets inherit its annotations and the label of its template, and send nothing under their own name.
  if (findOwner(kind, metadata) !== undefined) return undefined;
  const isInstrumented = ourLabel(metadata) !== undefined;
  const optIn = optedIn(metadata);
  if (!isInstrumented && optIn === undefined) return undefined;
  const { namespace = '', uid } = metadata;
  return { namespace, uid, name: `${namespace}/${kind}/${metadata.name}`, isInstrumented, optIn };
}

export const getPlace = ({ namespace, name, key }: TokenSource): string => `${namespace}/${name}/${key}`;

/** All namespaces share the reads of Secrets and the collector's memory for tokens, so each one has this many. */
export const MAX_OPT_INS = 20;

/** Returns the sources of the first places by name in each namespace, and the namespaces that name more. */
export function limitOptIns(sources: readonly TokenSource[]) {
  const places = new Map<string, Set<string>>();
  for (const source of sources)
    places.set(source.namespace, (places.get(source.namespace) ?? new Set()).add(getPlace(source)));
  const first = new Set([...places.values()].flatMap((named) => [...named].toSorted().slice(0, MAX_OPT_INS)));
  const crowded = [...places].filter(([, named]) => named.size > MAX_OPT_INS).map(([namespace]) => namespace);
  return { kept: sources.filter((source) => first.has(getPlace(source))), crowded };
}

/** Returns the unread places of the start, each with its end in an hour. A tenant could delay it with new ones, so none counts. */
export function stillUnread(before: ReadonlyMap<string, number> | undefined, unread: readonly string[], now: number) {
  const getEnd = (place: string) => (before === undefined ? now + TRANSITION_MS : (before.get(place) ?? now));
  return new Map(unread.map((place) => [place, getEnd(place)] as const).filter(([, end]) => end > now));
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

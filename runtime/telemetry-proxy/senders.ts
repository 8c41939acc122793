import type { WorkloadKind } from '../contract.ts';
import type { TokenSource } from '../credentials/credential.ts';
import { findOwner } from '../injection/eligibility.ts';
import { ourLabel } from '../injection/label.ts';
import { holds } from '../injection/policy.ts';
import { findOptIn } from '../injection/injection-status.ts';
import type { Metadata } from '../api/objects.ts';
import type { LumigoResource, LumigoSpec } from '../api/lumigo.ts';
import type { Sent } from './types.ts';
import type { KubernetesObject } from '../kubernetes/resources/objects.ts';

/** An inactive `Lumigo` accepts no sender. One that is being deleted accepts senders, and collects no more. */
export function getTelemetry({ metadata, status, spec = {} }: LumigoResource) {
  const collect: Sent[] = [];
  if (metadata.deletionTimestamp !== undefined) return { acceptsSenders: true, collect };
  if (!holds(status, 'Active')) return { acceptsSenders: false, collect };
  if (wantsEvents(spec)) collect.push('events');
  if (spec.logging?.enabled === true) collect.push('logFiles');
  return { acceptsSenders: true, collect };
}

const wantsEvents = ({ infrastructure }: LumigoSpec): boolean =>
  infrastructure?.enabled !== false && infrastructure?.kubeEvents?.enabled !== false;

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

function optedIn(metadata: Metadata): TokenSource | undefined {
  const optIn = findOptIn(metadata);
  if (optIn === undefined) return undefined;
  const { namespace = '', uid = '', generation = 0 } = metadata;
  // A rollout may follow a new token in the Secret.
  return { namespace, name: optIn.secretName, key: optIn.secretKey, revision: `${uid}/${generation}` };
}

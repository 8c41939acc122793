/**
 * The experience with an injector of this image and format. `untried`: no workload shows how it fares, now or soon. `tried`: nor does
 * one that has it, because it has no pods. `unknown`: a workload is about to show it.
 */
export type InjectorHealth = 'verified' | 'untried' | 'tried' | 'unknown' | 'failing';

/** The experience of one namespace with the injector, in numbers of workloads. */
export type NamespaceTally = Readonly<typeof noTally>;
export const noTally = {
  verified: 0,
  /** Workloads whose pods are about to show how it fares. */
  trying: 0,
  /** Workloads that have it, and no pods that show anything. */
  untested: 0,
  /** Reverted workloads that are not due for another attempt. */
  reverted: 0,
  /** Those of them where the injector itself failed: its image, or its container. */
  injectorFailed: 0,
  /** Those of them that this leader reverted. The others are known by an annotation, which proves nothing beyond its namespace. */
  witnessed: 0,
};

/** A namespace halts after so many reverts that stand. */
export const NAMESPACE_REVERTS = 2;
/** The cluster halts after so many namespaces that halted. */
export const CLUSTER_NAMESPACES = 3;

/** Returns what one namespace shows. A failure of the injector itself counts at once, since no other workload can fare better. */
export function healthIn({ verified, trying, reverted, injectorFailed }: NamespaceTally): InjectorHealth {
  if (injectorFailed > 0 || reverted >= NAMESPACE_REVERTS) return 'failing';
  if (verified > 0) return 'verified';
  return trying > 0 ? 'unknown' : 'untried';
}

/**
 * Returns what the cluster shows, by namespaces and never by workloads: a tenant fills one namespace with failures as easily as with one.
 * Where more namespaces run with the injector than fail with it, the failures are theirs.
 */
export function healthOfCluster(namespaces: Iterable<NamespaceTally>): InjectorHealth {
  const count = { verified: 0, untried: 0, tried: 0, unknown: 0, failing: 0 };
  for (const tally of namespaces) count[seenIn(tally)] += 1;
  if (count.failing >= CLUSTER_NAMESPACES && count.failing > count.verified) return 'failing';
  if (count.verified > 0) return 'verified';
  return count.unknown > 0 ? 'unknown' : 'untried';
}

function seenIn(tally: NamespaceTally): InjectorHealth {
  const health = healthIn(tally);
  return health === 'failing' && tally.witnessed === 0 ? 'untried' : health;
}

/** Returns what holds in a namespace: its own failures, and beside them what the cluster shows. */
export function healthFor(own: NamespaceTally, cluster: InjectorHealth): InjectorHealth {
  if (healthIn(own) === 'failing') return 'failing';
  return cluster === 'untried' && own.untested > 0 ? 'tried' : cluster;
}

/** Returns why a namespace goes no further; undefined where it does. Each halt ends when a reverted workload is due for another attempt. */
export function haltOf(own: NamespaceTally, cluster: InjectorHealth): string | undefined {
  if (own.injectorFailed > 0) return 'the injector itself fails, so no other workload can run with it';
  if (own.reverted >= NAMESPACE_REVERTS) return `${own.reverted} workloads of the namespace were reverted`;
  return cluster === 'failing' ? 'workloads of several namespaces were reverted' : undefined;
}

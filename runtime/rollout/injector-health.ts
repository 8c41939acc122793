/** The experience with an injector of this image and format: programs run with it, none was tried, or they fail. */
export type InjectorHealth = 'verified' | 'unknown' | 'failing';

/** The experience of one namespace with the injector, in numbers of workloads. */
export interface NamespaceTally {
  /** Workloads that are verified with it. */
  readonly verified: number;
  /** Reverted workloads that are not due for another attempt. */
  readonly reverted: number;
  /** Those of them where the injector itself failed: its image, or its container. */
  readonly injectorFailed: number;
}

/** A namespace halts after so many reverts that stand. */
export const NAMESPACE_REVERTS = 2;
/** The cluster halts after so many namespaces that halted. */
export const CLUSTER_NAMESPACES = 3;

/** Returns what one namespace shows. A failure of the injector itself counts at once, since no other workload can fare better. */
export function healthIn({ verified, reverted, injectorFailed }: NamespaceTally): InjectorHealth {
  if (injectorFailed > 0 || reverted >= NAMESPACE_REVERTS) return 'failing';
  return verified > 0 ? 'verified' : 'unknown';
}

/**
 * Returns what the cluster shows, by namespaces and never by workloads: a tenant fills one namespace with failures as easily as with one.
 * Where more namespaces run with the injector than fail with it, the failures are theirs.
 */
export function healthOfCluster(namespaces: Iterable<NamespaceTally>): InjectorHealth {
  const count = { verified: 0, unknown: 0, failing: 0 };
  for (const tally of namespaces) count[healthIn(tally)] += 1;
  if (count.failing >= CLUSTER_NAMESPACES && count.failing > count.verified) return 'failing';
  return count.verified > 0 ? 'verified' : 'unknown';
}

/** Returns why a namespace goes no further; undefined where it does. Each halt ends when a reverted workload is due for another attempt. */
export function haltOf(own: NamespaceTally, cluster: InjectorHealth): string | undefined {
  if (own.injectorFailed > 0) return 'the injector itself fails, so no other workload can run with it';
  if (own.reverted >= NAMESPACE_REVERTS) return `${own.reverted} workloads of the namespace were reverted`;
  return cluster === 'failing' ? 'workloads of several namespaces were reverted' : undefined;
}

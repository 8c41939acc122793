/**
 * The experience with an injector of this image and format. `unknown`: a workload is about to show if it works.
 * `untried`: no workload will show it. `tried`: untried, but a workload without pods has it.
 */
export type InjectorHealth = 'verified' | 'untried' | 'tried' | 'unknown' | 'failing';

export type NamespaceTally = Readonly<typeof noTally>;
export const noTally = {
  verified: 0,
  /** Those that show it for other namespaces as well. */
  proven: 0,
  /** One if a workload ran with it lately, which may be gone. */
  ran: 0,
  trying: 0,
  /** Workloads without pods that are read first. They delay no other namespace, because they may never show anything. */
  first: 0,
  /** The same, after a look found no pods. They delay nothing. */
  late: 0,
  /** Workloads that have it, and no pods that show anything. */
  untested: 0,
  reverted: 0,
  /** The reverted ones whose injector failed: its image, or its container. */
  injectorFailed: 0,
  /** The reverted ones that this leader saw. The others have an annotation, which a tenant can write. */
  witnessed: 0,
};

const NAMESPACE_REVERTS = 2;
const CLUSTER_NAMESPACES = 3;

/** Returns the experience in one namespace. One failure of the injector is enough, unless it has run there lately. */
export function healthIn({ verified, ran, trying, reverted, injectorFailed }: NamespaceTally): InjectorHealth {
  if (reverted >= NAMESPACE_REVERTS) return 'failing';
  if (verified + ran > 0) return 'verified';
  if (injectorFailed > 0) return 'failing';
  return trying > 0 ? 'unknown' : 'untried';
}

/**
 * Returns the experience in the cluster by namespaces, because a tenant can fill one namespace with failures. If the
 * injector runs in more namespaces than it fails in, the workloads are the cause.
 */
export function healthOfCluster(namespaces: Iterable<NamespaceTally>): InjectorHealth {
  const seen = [...namespaces].map(seenIn);
  const count = (health: InjectorHealth): number => seen.filter((each) => each === health).length;
  if (count('failing') >= CLUSTER_NAMESPACES && count('failing') > count('verified')) return 'failing';
  return (['verified', 'unknown'] as const).find((health) => seen.includes(health)) ?? 'untried';
}

export function seenIn(tally: NamespaceTally): InjectorHealth {
  const health = healthIn({ ...tally, verified: tally.proven, ran: 0 });
  return health === 'failing' && tally.witnessed === 0 ? 'untried' : health;
}

export function healthFor(own: NamespaceTally, cluster: InjectorHealth): InjectorHealth {
  const inOwn = healthIn(own);
  if (inOwn === 'failing' || (inOwn === 'verified' && cluster !== 'failing')) return inOwn;
  return cluster === 'untried' && own.untested > 0 ? 'tried' : cluster;
}

/** Returns why a namespace is halted. A halt ends when a reverted workload is due for another attempt. */
export function findHalt(own: NamespaceTally, cluster: InjectorHealth): string | undefined {
  if (healthIn({ ...own, reverted: 0 }) === 'failing')
    return 'the injector itself fails, so no other workload can run with it';
  if (own.reverted >= NAMESPACE_REVERTS) return `${own.reverted} workloads of the namespace were reverted`;
  return cluster === 'failing' ? 'workloads of several namespaces were reverted' : undefined;
}

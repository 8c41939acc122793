import { ApiError, isRefusal, isThrottled } from '../kubernetes/http/errors.ts';
import type { ModePod } from './mode-pod.ts';

/**
 * Whose pods are made anew as they were, and lose nothing by it but time. A Job's would begin again; nobody makes a pod of its own
 * anew, nor a node's; what another controller does (a driver of Spark, a pipeline's step) nobody here knows.
 */
const kinds = ['ReplicaSet', 'ReplicationController', 'DaemonSet', 'StatefulSet'];
/** These make the new pod only once the old one has gone, whoever asks for it. */
const oneByOne = new Set(['DaemonSet', 'StatefulSet']);

export const isOneByOne = ({ kind }: { readonly kind: string }): boolean => oneByOne.has(kind);

export const isEvictable = ({ owner }: ModePod): boolean => owner !== undefined && kinds.includes(owner.kind);

/** The pods of one controller. */
export interface Owned {
  readonly owner: NonNullable<ModePod['owner']>;
  /** Those that are not going. */
  readonly pods: readonly ModePod[];
  readonly isAnyGoing: boolean;
}

/** By controller, those first that risk least, of these the smallest that still have another pod to serve. */
export function byOwner(pods: readonly ModePod[]): Owned[] {
  const found = new Map<string, { owner: Owned['owner']; pods: ModePod[]; isAnyGoing: boolean }>();
  for (const pod of pods.filter(isEvictable)) {
    const { owner } = pod;
    if (owner === undefined) continue;
    const owned = found.get(owner.uid) ?? { owner, pods: [], isAnyGoing: false };
    found.set(owner.uid, owned);
    if (pod.isGoing) owned.isAnyGoing = true;
    else owned.pods.push(pod);
  }
  return [...found.values()].sort(
    (a, b) =>
      kinds.indexOf(a.owner.kind) - kinds.indexOf(b.owner.kind) ||
      a.pods.length - b.pods.length ||
      (a.owner.name < b.owner.name ? -1 : 1),
  );
}

/** Why none of a controller's pods is evicted for now; undefined where one may be. `Alone`: the only one, which nothing replaces in time. */
export function whyNot({ owner, pods, isAnyGoing }: Owned): 'Unready' | 'Alone' | undefined {
  if (isAnyGoing || pods.some(({ readySince }) => readySince === undefined)) return 'Unready';
  return pods.length < 2 && !isOneByOne(owner) ? 'Alone' : undefined;
}

/** When an eviction that failed is tried again, in milliseconds. A pod whose status was just written is a conflict, and says nothing. */
export function againAfterMs(error: unknown): number {
  if (isThrottled(error)) return 10_000;
  return isRefusal(error) || hasTwoBudgets(error) ? 60_000 : 2_000;
}

/** The API server evicts no pod that two disruption budgets bear upon, and calls that an error of its own. */
const hasTwoBudgets = (error: unknown): boolean =>
  error instanceof ApiError && error.message.includes('more than one PodDisruptionBudget');

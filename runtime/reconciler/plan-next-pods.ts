import { annotations } from '../contract.ts';
import { covers } from '../injection/lists.ts';
import type { LumigoResource, NamespacePolicy } from '../injection/types.ts';
import { isEvictable, whyNot } from '../rollout/evictable.ts';
import type { ModePod } from '../rollout/mode-pod.ts';
import type { ObservedPods } from './observed.ts';
import {
  AT_ONCE,
  firstOf,
  nothing,
  notKept,
  owners,
  summaryOf,
  wantedOf,
  type PodsPlan,
  type Wanting,
} from './pods-plan.ts';

export type Known = ObservedPods & { readonly list: readonly ModePod[] };
export type PodsPolicy = NamespacePolicy & { readonly state: 'pods' };

export interface Context {
  readonly policy: PodsPolicy;
  readonly acting: LumigoResource;
}

/**
 * Which pods are evicted next, so that they come with the injection: one at a time, where another pod of its controller serves
 * meanwhile; or, where the settings say so, all.
 * @param isOpen what replaces another one is awaited
 */
export function planNext(pods: Known, { policy, acting }: Context, isOpen: boolean, nowMs: number): PodsPlan {
  const { list, restUntil, hasTurn } = pods;
  const isWantedHere = (pod: ModePod): boolean => isWanted(pod, policy);
  const wanting = owners(list, isWantedHere);
  const others = list.filter((pod) => !isEvictable(pod) && isWantedHere(pod)).length;
  const { counted, next, blocked, most, needsTurn } = queueOf(pods.strategy, wanting, acting);
  const { free, keptAt } = notKept(next, pods, nowMs);
  const isDue = !isOpen && restUntil <= nowMs;
  const waiting = wantedOf(counted).length;
  return {
    ...nothing,
    evict: isDue && (hasTurn || !needsTurn) ? free.slice(0, most) : [],
    restUntil,
    summary: summaryOf(list, {
      ...{
        waiting,
        blocked,
        kept: next.length > 0 && free.length === 0 ? waiting - blocked : next.length - free.length,
      },
      left: wantedOf(wanting).length - waiting + others,
    }),
    wantsTurn: free.length > 0 && restUntil <= nowMs,
    wakeAt: Math.min(restUntil > nowMs ? restUntil : Infinity, keptAt),
  };
}

interface Queue {
  /** Those that are to be replaced, now or later. */
  readonly counted: readonly Wanting[];
  /** Those that may be by now. */
  readonly next: readonly ModePod[];
  readonly blocked: number;
  readonly most: number;
  readonly needsTurn: boolean;
}

function queueOf(strategy: ObservedPods['strategy'], wanting: readonly Wanting[], acting: LumigoResource): Queue {
  if (strategy === 'immediate')
    return { counted: wanting, next: wantedOf(wanting), blocked: 0, most: AT_ONCE, needsTurn: false };
  if (!isAsked(strategy, acting)) return { counted: [], next: [], blocked: 0, most: 0, needsTurn: true };
  const counted = wanting.filter((each) => whyNot(each) !== 'Alone');
  const next = firstOf(counted.filter((each) => whyNot(each) === undefined));
  const blocked = wantedOf(counted.filter((each) => whyNot(each) !== undefined)).length;
  return { counted, next, blocked, most: 1, needsTurn: true };
}

const isAsked = (strategy: ObservedPods['strategy'], { metadata }: LumigoResource): boolean =>
  strategy === 'progressive' || (strategy === 'manual' && metadata.annotations?.[annotations.retry] !== undefined);

/** Whether a pod would come otherwise if it were created now: with the injection, or with one that says what its Lumigo says by now. */
function isWanted({ injected, isInReach, isGoing, createdAt }: ModePod, policy: PodsPolicy): boolean {
  if (!isInReach || isGoing) return false;
  if (injected !== undefined) return !covers(injected, policy.tracing);
  return policy.injectExisting || createdAt > Date.parse(policy.createdAt);
}

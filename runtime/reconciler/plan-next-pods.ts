import { annotations } from '../contract.ts';
import { covers } from '../injection/lists.ts';
import type { LumigoResource, NamespacePolicy, RolloutNote } from '../injection/types.ts';
import { isEvictable, whyNot, byOwner, type Owned } from '../rollout/evictable.ts';
import type { ModePod } from '../rollout/mode-pod.ts';
import type { ObservedPods } from './observed.ts';
import type { PodTrial } from '../rollout/judge-pods.ts';

export type Known = ObservedPods & { readonly list: readonly ModePod[] };
export type PodsPolicy = NamespacePolicy & { readonly state: 'pods' };

export interface Context {
  readonly policy: PodsPolicy;
  readonly acting: LumigoResource;
}

/** What people are told, in numbers of pods. */
export interface PodsSummary {
  /** Undefined until they are known. */
  readonly injected: number | undefined;
  /** Wait until they are evicted. */
  readonly waiting: number;
  /** Of these, those whose controller has pods that are not ready. */
  readonly blocked: number;
  /** Of these, those that a disruption budget keeps. */
  readonly kept: number;
  /** Are left until they are replaced anyway. */
  readonly left: number;
  /** What replaces this one is awaited. */
  readonly underWay: string | undefined;
  /** A new pod came without the injection. */
  readonly isMissed: boolean;
}

export interface PodsPlan {
  readonly evict: readonly ModePod[];
  /** What is to be remembered from now on. */
  readonly trial: PodTrial | undefined;
  /** How many pods the controller of the one on trial is to have is to be read. */
  readonly asksOwner?: true;
  /** By the monotonic clock. */
  readonly restUntil: number;
  /** A halt holds no longer. */
  readonly resumes?: true;
  /** What the status is to say of why no pod is injected. */
  readonly halted: RolloutNote | undefined;
  readonly summary: PodsSummary;
  readonly wantsTurn: boolean;
  readonly wakeAt: number;
}

/** How many are evicted at once where nothing is to be awaited. */
export const AT_ONCE = 10;

export const nothing: Omit<PodsPlan, 'summary' | 'restUntil'> = {
  ...{ evict: [], trial: undefined, halted: undefined, wantsTurn: false, wakeAt: Infinity },
};

export const injectedIn = (list: readonly ModePod[]): number =>
  list.filter(({ injected, isGoing }) => injected !== undefined && !isGoing).length;

export const summaryOf = (list: readonly ModePod[], more: Partial<PodsSummary> = {}): PodsSummary => ({
  injected: injectedIn(list),
  ...{ waiting: 0, blocked: 0, kept: 0, left: 0, underWay: undefined, isMissed: false },
  ...more,
});

/** A controller some of whose pods are to be replaced. */
export type Wanting = Owned & { readonly wanted: readonly ModePod[] };

export const owners = (list: readonly ModePod[], isOne: (pod: ModePod) => boolean): Wanting[] =>
  byOwner(list)
    .map((owned) => ({ ...owned, wanted: owned.pods.filter((pod) => isOne(pod)) }))
    .filter(({ wanted }) => wanted.length > 0);

export const wantedOf = (each: readonly Wanting[]): readonly ModePod[] => each.flatMap(({ wanted }) => wanted);
/** One of each controller. */
const firstOf = (each: readonly Wanting[]): readonly ModePod[] => each.flatMap(({ wanted }) => wanted.slice(0, 1));

/** Those that nothing has kept lately, and when to try the next of the others. */
export function notKept(next: readonly ModePod[], { keptUntil }: ObservedPods, nowMs: number) {
  const until = (pod: ModePod): number => keptUntil.get(pod.uid) ?? 0;
  const kept = next.filter((pod) => until(pod) > nowMs);
  return { free: next.filter((pod) => until(pod) <= nowMs), keptAt: Math.min(Infinity, ...kept.map(until)) };
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

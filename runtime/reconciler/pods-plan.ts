import type { RolloutNote } from '../injection/types.ts';
import { byOwner, type Owned } from '../rollout/evictable.ts';
import type { PodTrial } from '../rollout/judge-pods.ts';
import type { ModePod } from '../rollout/mode-pod.ts';
import type { ObservedPods } from './observed.ts';

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
export const firstOf = (each: readonly Wanting[]): readonly ModePod[] =>
  each.flatMap(({ wanted }) => wanted.slice(0, 1));

/** Those that nothing has kept lately, and when to try the next of the others. */
export function notKept(next: readonly ModePod[], { keptUntil }: ObservedPods, nowMs: number) {
  const until = (pod: ModePod): number => keptUntil.get(pod.uid) ?? 0;
  const kept = next.filter((pod) => until(pod) > nowMs);
  return { free: next.filter((pod) => until(pod) <= nowMs), keptAt: Math.min(Infinity, ...kept.map(until)) };
}

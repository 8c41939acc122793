import type { RuntimeConfig } from '../config/config.ts';
import type { PodTrial } from '../rollout/judge-pods.ts';
import type { ModePod } from '../rollout/mode-pod.ts';

/** What the leader knows of the pods of a namespace in Pod mode. Times are of the monotonic clock, in milliseconds. */
export interface ObservedPods {
  /** Undefined until all are known. */
  readonly list: readonly ModePod[] | undefined;
  /** What replaces a pod that was evicted is watched. */
  readonly trial: PodTrial | undefined;
  /** Nothing is evicted before. */
  readonly restUntil: number;
  /** Since when it is tried again after a halt, in milliseconds since 1970. */
  readonly resumedAt: number;
  /** By uid, until when a pod is left that a disruption budget, or something else, has kept. */
  readonly keptUntil: ReadonlyMap<string, number>;
  readonly hasTurn: boolean;
  readonly strategy: RuntimeConfig['rolloutStrategy'];
  /** A fingerprint of what the installation decides for every injection. */
  readonly injector: string;
}

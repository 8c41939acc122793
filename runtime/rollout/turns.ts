import { workloads } from '../contract.ts';
import type { Shape } from './shape.ts';

/** What waits for its turn. */
export interface Waiting {
  readonly name: string;
  readonly kind: string;
  readonly shape: Shape;
}

/** What has become of the others of the namespace, and of the cluster. */
export interface Standing {
  /** Injections whose pods have shown that they run with it. */
  readonly proven: number;
  /** Under way: granted, or not yet proven. */
  readonly underWay: number;
  /** Put back in the namespace, and not tried again yet. */
  readonly reverted: number;
  /** One of those was the injector's own fault. */
  readonly injectorFails: boolean;
  /** Put back in the whole cluster. */
  readonly revertedInCluster: number;
}

export const NAMESPACE_REVERTS = 2;
export const CLUSTER_REVERTS = 5;

/** Why nothing more of a namespace is changed; undefined where it goes on. */
export function haltOf({ reverted, injectorFails, revertedInCluster }: Omit<Standing, 'proven' | 'underWay'>) {
  if (injectorFails) return 'the injector itself fails, and would fail in every other workload';
  if (reverted >= NAMESPACE_REVERTS) return `${reverted} workloads of the namespace were reverted`;
  if (revertedInCluster >= CLUSTER_REVERTS) return `${revertedInCluster} workloads of the cluster were reverted`;
  return undefined;
}

/** How many go together once so many have proven: one first, then at most twice as many as have. */
export const waveAfter = (proven: number, largest: number): number => Math.min(largest, Math.max(1, 2 * proven));

/** The sizes of the waves in which so many workloads go. */
export function wavesOf(workloads: number, largest: number): number[] {
  const waves: number[] = [];
  for (let proven = 0; proven < workloads; proven += waves.at(-1) ?? 0)
    waves.push(Math.min(waveAfter(proven, largest), workloads - proven));
  return waves;
}

/** Old pods of `replicas` serve on until new ones are ready; the others' do not. */
const kinds: readonly string[] = (['replicas', 'nodes', 'ordinals'] as const).flatMap((form) =>
  workloads.filter(({ pods }) => pods === form).map(({ kind }) => kind),
);

/** In which order they go: what risks least first, and of that the smallest that still has another pod to serve. */
export const inOrder = <T extends Waiting>(waiting: readonly T[]): T[] =>
  waiting.toSorted(
    (a, b) =>
      kinds.indexOf(a.kind) - kinds.indexOf(b.kind) ||
      Number(a.shape.running < 2) - Number(b.shape.running < 2) ||
      a.shape.running - b.shape.running ||
      (a.name < b.name ? -1 : 1),
  );

/** Whose turn it is: nobody's while others are under way, or where the namespace halts. */
export function nextTurns<T extends Waiting>(waiting: readonly T[], standing: Standing, largest: number): T[] {
  if (standing.underWay > 0 || haltOf(standing) !== undefined) return [];
  return inOrder(waiting).slice(0, waveAfter(standing.proven, largest));
}

import type { WorkloadKind } from '../contract.ts';
import { isPlainObject, mapAt, numberAt, type JsonMap } from '../json/values.ts';
import type { Workload } from '../api/objects.ts';
import { findKind } from '../injection/workload.ts';

/** The progress of a workload's controller with the present pod template, as `kubectl rollout status` computes it. */
export type Completion =
  /** A change of the template replaces no pod: the kind keeps its pods, or has none (`isEmpty`). */
  | { readonly kind: 'no-pods'; readonly isEmpty?: true }
  /** `isPaused`: a change of the template replaces no pod for now. */
  | { readonly kind: 'complete'; readonly available: number; readonly isPaused?: true }
  /** The user, or a step of the workload's own strategy, paused the rollout. */
  | { readonly kind: 'paused' }
  | {
      readonly kind: 'progressing';
      /** A lower bound of the available pods with the present template. */
      readonly available: number;
      readonly wanted: number;
      readonly isReplacing: boolean;
      /** The API server's message when it refuses to create pods: a quota, or another webhook. */
      readonly refused?: string;
    };

interface PodCounts {
  readonly wanted: number;
  readonly replaced: number;
  readonly running: number;
  readonly updated: number;
  readonly available: number;
}

type Count = (spec: JsonMap, status: JsonMap) => PodCounts;

export const isOnDelete = (spec: JsonMap): boolean => mapAt(spec, 'updateStrategy')['type'] === 'OnDelete';

const replicas: Count = (spec, status) => ({
  wanted: numberAt(spec, 'replicas', 1),
  replaced: numberAt(spec, 'replicas', 1),
  running: numberAt(status, 'replicas'),
  updated: numberAt(status, 'updatedReplicas'),
  available: numberAt(status, 'availableReplicas'),
});

const counts: Readonly<Record<NonNullable<WorkloadKind['pods']>, Count>> = {
  replicas,
  ordinals: (spec, status) => {
    const all = replicas(spec, status);
    const partition = numberAt(mapAt(mapAt(spec, 'updateStrategy'), 'rollingUpdate'), 'partition');
    return { ...all, replaced: isOnDelete(spec) ? 0 : Math.max(0, all.wanted - partition) };
  },
  nodes: (spec, status) => ({
    wanted: numberAt(status, 'desiredNumberScheduled'),
    replaced: isOnDelete(spec) ? 0 : numberAt(status, 'desiredNumberScheduled'),
    running: numberAt(status, 'currentNumberScheduled'),
    updated: numberAt(status, 'updatedNumberScheduled'),
    available: numberAt(status, 'numberAvailable'),
  }),
};

/** Counts pods of each template; undefined for a kind that does not count them. */
export function findPodCounts(workload: Workload): PodCounts | undefined {
  const form = findKind(workload.apiVersion, workload.kind)?.pods;
  return form && counts[form](mapAt(workload, 'spec'), mapAt(workload, 'status'));
}

/** Judges an object by its own status. A status of an older generation does not count. */
export function getCompletion(workload: Workload): Completion {
  const [spec, status] = [mapAt(workload, 'spec'), mapAt(workload, 'status')];
  // Argo's Rollouts write the generation as a text, and pause at steps of their own strategy.
  const isSeen = Number(status['observedGeneration'] ?? 0) >= (workload.metadata.generation ?? 0);
  const found = toCounts(workload, spec, status, isSeen);
  if ('kind' in found) return found;
  const isPaused = spec['paused'] === true || status['phase'] === 'Paused';
  if (isSeen && isComplete(found)) return toComplete(found, isPaused);
  return isPaused ? { kind: 'paused' } : { ...toProgress(found, isSeen), ...refusalIn(status) };
}

type NoPods = Extract<Completion, { kind: 'no-pods' }>;
function toCounts(workload: Workload, spec: JsonMap, status: JsonMap, isSeen: boolean): PodCounts | NoPods {
  const form = findKind(workload.apiVersion, workload.kind)?.pods;
  if (form === undefined) return { kind: 'no-pods' };
  const found = counts[form](spec, status);
  // Only its status has the number of a DaemonSet's pods. Before its controller has seen it, it has none.
  const isUncounted = form === 'nodes' && !isSeen && status['observedGeneration'] !== undefined && !isOnDelete(spec);
  if (found.replaced > 0 || isUncounted) return found;
  return { kind: 'no-pods', ...(numberAt(spec, 'replicas', 1) === 0 ? { isEmpty: true } : {}) };
}

const isComplete = ({ wanted, replaced, running, updated, available }: PodCounts): boolean =>
  updated >= replaced && running <= wanted && available >= wanted;

const getAvailable = ({ running, updated, available }: PodCounts): number =>
  Math.max(0, available - (running - updated));

const toComplete = (found: PodCounts, isPaused: boolean) => ({
  ...{ kind: 'complete' as const, available: getAvailable(found) },
  ...(isPaused ? { isPaused } : {}),
});

const toProgress = (found: PodCounts, isSeen: boolean) => ({
  kind: 'progressing' as const,
  available: isSeen ? getAvailable(found) : 0,
  wanted: found.replaced,
  isReplacing: !isSeen || found.updated < found.replaced || found.running > found.wanted,
});

function refusalIn({ conditions }: JsonMap): { readonly refused?: string } {
  const found = Array.isArray(conditions) ? conditions.filter(isPlainObject) : [];
  const failure = found.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  return failure === undefined ? {} : { refused: String(failure['message'] ?? '') };
}

import { covers, isPlainObject, mapAt, numberAt, type JsonMap } from '../json/values.ts';
import type { Workload } from '../api/objects.ts';
import { findKind } from '../injection/workload.ts';

/** The progress of a workload's controller with the present pod template, as `kubectl rollout status` computes it. */
export type Completion =
  /** A change of the template replaces no pod: the kind keeps its pods, or has none (`isEmpty`). */
  | { readonly kind: 'no-pods'; readonly isEmpty?: true }
  /** `isPaused`: a change of the template replaces no pod for now. */
  | { readonly kind: 'complete'; readonly available: number; readonly isPaused?: true }
  /** The user or the strategy paused the rollout, or the strategy waits while all new pods run (`isRollingOut`). */
  | { readonly kind: 'paused'; readonly isRollingOut?: true }
  | {
      readonly kind: 'progressing';
      /** A lower bound of the available pods with the present template. */
      readonly available: number;
      readonly wanted: number;
      readonly isReplacing: boolean;
      /** The API server's message when it refuses to create pods: a quota, or another webhook. */
      readonly refused?: string | undefined;
      /** How much longer a pod may take by the workload's own settings. */
      readonly delayMs?: number | undefined;
      /** True after Argo or a user has aborted a Rollout. */
      readonly isAborted?: unknown;
    };

type PodCounts = NonNullable<ReturnType<typeof findPodCounts>>;

const isOnDelete = (spec: JsonMap): boolean => mapAt(spec, 'updateStrategy')['type'] === 'OnDelete';

/** Only a StatefulSet has a partition. */
export const getPartition = (spec: JsonMap): number =>
  numberAt(mapAt(mapAt(spec, 'updateStrategy'), 'rollingUpdate'), 'partition');

/** After the switch, Argo keeps the former pods for a while and counts the available ones among the new pods. */
const isSwitched = ({ currentPodHash = '', blueGreen }: JsonMap): boolean =>
  isPlainObject(blueGreen) && blueGreen['activeSelector'] === currentPodHash;

const countReplicas = (spec: JsonMap, status: JsonMap) => ({
  wanted: numberAt(spec, 'replicas', 1),
  running: numberAt(status, isSwitched(status) ? 'updatedReplicas' : 'replicas'),
  updated: numberAt(status, 'updatedReplicas'),
  available: numberAt(status, 'availableReplicas'),
});

const countOnNodes = (status: JsonMap) => ({
  wanted: numberAt(status, 'desiredNumberScheduled'),
  running: numberAt(status, 'currentNumberScheduled'),
  updated: numberAt(status, 'updatedNumberScheduled'),
  available: numberAt(status, 'numberAvailable'),
});

/** Counts pods of each template, and those that a change replaces; undefined for a kind that does not count them. */
export function findPodCounts(workload: Workload) {
  const form = findKind(workload.apiVersion, workload.kind)?.pods;
  if (form === undefined) return undefined;
  const spec = mapAt(workload, 'spec');
  const status = mapAt(workload, 'status');
  const found = form === 'nodes' ? countOnNodes(status) : countReplicas(spec, status);
  return { ...found, replaced: isOnDelete(spec) ? 0 : Math.max(0, found.wanted - getPartition(spec)) };
}

/** Judges an object by its own status. A status of an older generation does not count. */
export function getCompletion(workload: Workload): Completion {
  const spec = mapAt(workload, 'spec');
  const status = mapAt(workload, 'status');
  const { abort: isAborted } = status;
  // Argo writes the generation as a text.
  const isSeen = Number(status['observedGeneration'] ?? 0) >= (workload.metadata.generation ?? 0);
  const found = toCounts(workload, spec, status, isSeen);
  if ('kind' in found) return found;
  const phase = findPhase(spec, status);
  if (isSeen && isComplete(found, phase))
    return { kind: 'complete', available: getAvailable(found), ...(phase === 'Paused' ? { isPaused: true } : {}) };
  if (phase === 'Paused') return { kind: 'paused' };
  if (isSeen && isStrategyWaiting(found, phase, status)) return { kind: 'paused', isRollingOut: true };
  return { ...toProgress(found, isSeen), refused: findRefusal(status), delayMs: findDelay(spec), isAborted };
}

/** Returns Argo's own verdict on a Rollout. If Argo cannot create a ReplicaSet, it keeps the phase of the former pods. */
function findPhase({ paused }: JsonMap, status: JsonMap): unknown {
  if (paused === true) return 'Paused';
  const isFailed = findCondition(status, { type: 'Progressing', status: 'False' }) !== undefined;
  return isFailed && 'phase' in status ? 'Degraded' : status['phase'];
}

/** Argo analyses before the switch only after all new pods are available, which its counts do not show. */
const isStrategyWaiting = (found: PodCounts, phase: unknown, status: JsonMap): boolean =>
  phase === 'Progressing' &&
  findRefusal(status) === undefined &&
  (getAvailable(found) >= found.updated || 'prePromotionAnalysisRunStatus' in mapAt(status, 'blueGreen'));

type NoPods = Extract<Completion, { kind: 'no-pods' }>;
function toCounts(workload: Workload, spec: JsonMap, status: JsonMap, isSeen: boolean): PodCounts | NoPods {
  const found = findPodCounts(workload);
  // Only its status has the number of a DaemonSet's pods. Before its controller has seen it, it has none.
  const isUncounted = workload.kind === 'DaemonSet' && !isSeen && 'observedGeneration' in status && !isOnDelete(spec);
  if (found !== undefined && (found.replaced > 0 || isUncounted)) return found;
  // A DaemonSet that its controller has not seen is about to have pods.
  const wanted = found === undefined || !isSeen ? spec['replicas'] : found.wanted;
  return { kind: 'no-pods', ...(wanted === 0 ? { isEmpty: true } : {}) };
}

function isComplete({ wanted, replaced, running, updated, available }: PodCounts, phase: unknown): boolean {
  if (phase === 'Progressing' || phase === 'Degraded') return false;
  return phase === 'Healthy' || (updated >= replaced && running <= wanted && available >= wanted);
}

const getAvailable = ({ running, updated, available }: PodCounts): number =>
  Math.max(0, available - (running - updated));

const toProgress = (found: PodCounts, isSeen: boolean) => ({
  kind: 'progressing' as const,
  available: isSeen ? getAvailable(found) : 0,
  wanted: found.replaced,
  isReplacing: !isSeen || found.updated < found.replaced || found.running > found.wanted,
});

/** A started Job counts each pod that the API server accepts. A condition says that it is suspended or ended. */
export function isWithoutPods(job: Workload): boolean {
  const status = mapAt(job, 'status');
  const isCounted = ['active', 'succeeded', 'failed', 'terminating'].some((count) => numberAt(status, count) > 0);
  const isOver = findCondition(status, { status: 'True' }) !== undefined || mapAt(job, 'spec')['parallelism'] === 0;
  return 'startTime' in status && !isCounted && !isOver;
}

function findRefusal(status: JsonMap): string | undefined {
  const failure = findCondition(status, { type: 'ReplicaFailure', status: 'True' });
  return failure && String(failure['message'] ?? '');
}

/** A deadline includes the grace period that is Kubernetes' default. A tenant cannot delay it by more than an hour. */
const GRACE_SECONDS = 30;
const MAX_DELAY_SECONDS = 3_600;
function findDelay(spec: JsonMap): number | undefined {
  const grace = numberAt(mapAt(mapAt(spec, 'template'), 'spec'), 'terminationGracePeriodSeconds');
  const seconds = numberAt(spec, 'minReadySeconds') + Math.max(0, grace - GRACE_SECONDS);
  return seconds > 0 ? 1_000 * Math.min(seconds, MAX_DELAY_SECONDS) : undefined;
}

export const findCondition = ({ conditions }: JsonMap, wanted: JsonMap): JsonMap | undefined =>
  Array.isArray(conditions) ? conditions.filter(isPlainObject).find((each) => covers(each, wanted)) : undefined;

import type { WorkloadKind } from '../contract.ts';
import { isMap, type JsonMap } from '../injection/lists.ts';
import type { Workload } from '../injection/types.ts';
import { kindOf } from '../injection/workload.ts';
import { isOnDelete, mapAt, number } from './completion.ts';

/** Why a workload is not changed for now. */
export interface Blocked {
  readonly reason: 'Paused' | 'RollingOut' | 'Unhealthy';
  /** The rest of a sentence that begins with the workload. */
  readonly message: string;
}

/** What matters of a workload's pods, as its own status has it. */
export interface Shape {
  /** How many pods a change of its template replaces; 0 where it replaces none. */
  readonly desired: number;
  /** How many there are. */
  readonly running: number;
  readonly blocked: Blocked | undefined;
  /** Its pods are refused, by a quota or by another webhook, and since when (milliseconds since 1970). */
  readonly refused: { readonly message: string; readonly since: number } | undefined;
}

interface Counts {
  /** How many there are to be. */
  readonly wanted: number;
  /** How many of those a change of the template replaces. */
  readonly desired: number;
  readonly running: number;
  readonly updated: number;
  readonly ready: number;
}

/** For these a change of the template changes no pod that runs. */
const none: Counts = { wanted: 0, desired: 0, running: 0, updated: 0, ready: 0 };

type Count = (spec: JsonMap, status: JsonMap) => Counts;

const replicated: Count = (spec, status) => ({
  wanted: number(spec, 'replicas', 1),
  desired: number(spec, 'replicas', 1),
  running: number(status, 'replicas'),
  updated: number(status, 'updatedReplicas'),
  ready: number(status, 'readyReplicas'),
});

/** By what a kind's row says of its pods. */
const counts: Readonly<Record<NonNullable<WorkloadKind['pods']>, Count>> = {
  replicas: replicated,
  ordinals: (spec, status) => {
    const all = replicated(spec, status);
    const partition = number(mapAt(mapAt(spec, 'updateStrategy'), 'rollingUpdate'), 'partition');
    return { ...all, desired: isOnDelete(spec) ? 0 : Math.max(0, all.desired - partition) };
  },
  nodes: (spec, status) => ({
    wanted: number(status, 'desiredNumberScheduled'),
    desired: isOnDelete(spec) ? 0 : number(status, 'desiredNumberScheduled'),
    running: number(status, 'currentNumberScheduled'),
    updated: number(status, 'updatedNumberScheduled'),
    ready: number(status, 'numberReady'),
  }),
};

/** @param other for a kind whose row says nothing of its pods */
function countsOf(workload: Workload, other: Count = () => none): Counts {
  const form = kindOf(workload.apiVersion, workload.kind)?.pods;
  return (form === undefined ? other : counts[form])(mapAt(workload, 'spec'), mapAt(workload, 'status'));
}

/** Whether its status is of its template as it is now. Argo's Rollouts have a text there. */
const isSeenBy = (status: JsonMap, { metadata }: Workload): boolean =>
  Number(status['observedGeneration'] ?? 0) >= (metadata.generation ?? 0);

/** How many pods a controller is to have, whether or not a change of its template replaces them, as one of a ReplicaSet does not. */
export const wantedBy = (controller: Workload): number => countsOf(controller, replicated).wanted;

/** How far its rollout has come: its pods of the newest template, and those that are ready; 0 where its controller has not seen it yet. */
export function progressOf(workload: Workload): number {
  const { updated, ready } = countsOf(workload);
  return isSeenBy(mapAt(workload, 'status'), workload) ? updated + ready : 0;
}

/** What a whole workload shows of its pods. */
export function shapeOf(workload: Workload): Shape {
  const [spec, status] = [mapAt(workload, 'spec'), mapAt(workload, 'status')];
  const found = countsOf(workload);
  const isSeen = isSeenBy(status, workload);
  // Argo's Rollouts pause at steps of their own strategy.
  const isPaused = spec['paused'] === true || status['phase'] === 'Paused';
  const blocked = found.desired === 0 ? undefined : blockedBy({ ...found, isSeen, isPaused });
  return { desired: found.desired, running: found.running, blocked, refused: refusedOf(status) };
}

/** Whether a change of its template would replace pods that run. */
export const restarts = ({ desired, running }: Shape): boolean => desired > 0 && running > 0;

function blockedBy(found: Counts & { readonly isSeen: boolean; readonly isPaused: boolean }): Blocked | undefined {
  const { wanted, desired, running, updated, ready, isSeen, isPaused } = found;
  if (isPaused) return { reason: 'Paused', message: 'is paused' };
  if (!isSeen || updated < Math.min(desired, running) || running > wanted)
    return { reason: 'RollingOut', message: 'is in the middle of its own rollout' };
  if (ready >= wanted) return undefined;
  return { reason: 'Unhealthy', message: `has ${wanted - ready} of ${wanted} pods not ready` };
}

function refusedOf({ conditions }: JsonMap): Shape['refused'] {
  const found = Array.isArray(conditions) ? conditions.filter(isMap) : [];
  const failure = found.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True');
  if (failure === undefined) return undefined;
  return { message: String(failure['message'] ?? ''), since: Date.parse(String(failure['lastTransitionTime'])) || 0 };
}

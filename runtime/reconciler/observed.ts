import type { WorkloadKind } from '../contract.ts';
import type { Decision } from '../injection/decision.ts';
import { isOurs } from '../injection/label.ts';
import type { InstrumentedResource, LumigoResource, LumigoStatus, Problem } from '../api/lumigo.ts';
import type { InjectorSettings, NamespacePolicy } from '../injection/types.ts';
import type { PodsSeen } from '../pod-mode/pod-counts.ts';
import type { TokenSeen } from '../token-checks/plan-checks.ts';
import type { InjectorHealth } from '../rollout/injector-health.ts';
import type { JudgeSettings, WorkloadState } from '../rollout/workload-state.ts';
import type { WebhookSeen } from '../webhook/probe.ts';

/** The leader's immutable knowledge of a workload. Times are milliseconds of the monotonic clock. */
export interface ObservedWorkload extends Facts {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdAt: string;
  readonly label: string | undefined;
  readonly injectionStatus?: string | undefined;
  readonly deleting: boolean;
  /** A digest of the annotations that ask for a retry or select containers, of the size of large ones, and of labels. */
  readonly asked?: string | undefined;
}

export interface Facts {
  /** The policy under which a check found nothing left to do. Any change of the workload clears it. */
  readonly checkedUnder?: NamespacePolicy | undefined;
  /** The last such policy. A change by another writer does not clear it. */
  readonly checkedBefore?: NamespacePolicy | undefined;
  /** The policy under which the webhook should have injected a new workload. The first decision clears it. */
  readonly expectedUnder?: NamespacePolicy | undefined;
  /** A change in progress. The injection status identifies its echo in the watch. */
  readonly inFlight?: { readonly injectionStatus?: string | undefined } | undefined;
  readonly failure?: Failure | undefined;
  readonly write?: Write | undefined;
  readonly elsewhere?: string | undefined;
  /** The last one, with a digest of its message. Before it: a policy for which an earlier leader posted all events. */
  readonly lastDecision?:
    (Partial<Pick<Decision, 'tried' | 'code' | 'message'>> & { readonly policy: NamespacePolicy }) | undefined;
  readonly telemetry?: InstrumentedResource['telemetry'] | undefined;
  /** The operator's own time, RFC 3339, of the first telemetry. Before that: since when pods run with the injection. */
  readonly telemetrySince?: string | undefined;
  readonly instrumentedVersion?: string | undefined;
  readonly state?: WorkloadState | undefined;
  /** The injection status of the injection that is judged, or that was there before. */
  readonly judged?: string | undefined;
  /** The last change in the watch, if the workload has a state. */
  readonly changedAt?: number | undefined;
}

export interface Failure {
  readonly policy: NamespacePolicy;
  readonly count: number;
  /** The first refusal by the API server; undefined while it does not answer, which does not depend on the workload. */
  readonly refusedSince: number | undefined;
  readonly retryAt: number;
  readonly problem: string;
  /** The API server refused the injection, and would accept the workload as it is. */
  readonly refusesInjection?: boolean | undefined;
}

export interface Write {
  readonly policy: NamespacePolicy;
  readonly at: number;
  /** The last change by another writer since, which may only have scaled the workload. */
  readonly touchedAt: number | undefined;
  /** When a reading, or the answer to the write, showed that another writer undid it. */
  readonly undoneAt?: number | undefined;
  /** Consecutive writes that another writer soon undid. */
  readonly repeats: number;
}

export const isInstrumented = ({ label }: Pick<ObservedWorkload, 'label'>): boolean => isOurs(label);

export interface ObservedLumigo {
  readonly resource: LumigoResource;
  readonly isBusy: boolean;
  readonly failure?: Pick<Failure, 'count' | 'retryAt'> | undefined;
  readonly listed?: readonly InstrumentedResource[] | undefined;
  readonly statusAt: number;
  readonly listedAt: number;
  readonly lastStatus?: LumigoStatus;
  /** Consecutive writes of the same status after another writer changed it. */
  readonly repeats?: number;
}

export interface ObservedCredential {
  readonly problem: Problem | undefined;
  /** The Secret's resourceVersion, which makes other replicas read it. */
  readonly version: string | undefined;
}

export interface ObservedNamespace {
  readonly policy: NamespacePolicy;
  readonly lumigoes: readonly ObservedLumigo[];
  readonly effective: string | undefined;
  readonly credential: ObservedCredential | undefined;
  readonly workloads: Iterable<ObservedWorkload>;
  readonly webhook: WebhookSeen | undefined;
  readonly telemetry: Problem | 'working' | undefined;
  readonly token: TokenSeen;
  readonly pendingEvents: number;
  /** How long a refusing workload can delay the deletion of its `Lumigo`. */
  readonly removalDeadlineMs: number;
  /** Namespaces of the cluster whose workloads wait for a change or are being changed. */
  readonly underWay: number;
  readonly telemetryExpectedWithinMs: number;
  readonly rollout: ObservedRollout;
  readonly pods?: PodsSeen | undefined;
}

export interface ObservedRollout {
  readonly settings: JudgeSettings &
    Readonly<{ largestBatch: number; label: string; strategy?: InjectorSettings['strategy'] }>;
  readonly injector: InjectorHealth;
  /** A workload of the namespace ran with the injector within the last hour, and may be gone. */
  readonly hasRun: boolean;
  readonly hasSlot: boolean;
}

export type Now = Readonly<{ ms: number; iso: string }>;

/** Returns the earliest time. `Math.min` takes fewer arguments than a tenant can create workloads. */
export const least = (times: readonly number[]): number => times.reduce((first, at) => Math.min(first, at), Infinity);

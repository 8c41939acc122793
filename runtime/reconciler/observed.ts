import type { WorkloadKind } from '../contract.ts';
import { isOurs } from '../injection/label.ts';
import type { InstrumentedResource, LumigoResource, LumigoStatus, Problem } from '../api/lumigo.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { PodsSeen } from '../pod-mode/pod-counts.ts';
import type { TokenSeen } from '../token-checks/decide-seen.ts';
import type { InjectorHealth } from '../rollout/injector-health.ts';
import type { JudgeSettings, WorkloadState } from '../rollout/workload-state.ts';
import type { WebhookSeen } from '../webhook/probe.ts';

/** What the leader knows of one workload. It is only replaced, never changed. Times are milliseconds of the monotonic clock. */
export interface ObservedWorkload extends Facts {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** ISO 8601, by the API server's clock. */
  readonly createdAt: string;
  readonly label: string | undefined;
  /** As `stampText` returns it: `parseStamp` reads it. */
  readonly stamp?: string | undefined;
  readonly deleting: boolean;
  /** A digest of the annotations by which its user asks for another try or selects containers. */
  readonly asked?: string | undefined;
}

export interface Facts {
  /** The policy under which a check of the whole object found nothing left to do. Each change of the workload unsettles it. */
  readonly settled?: NamespacePolicy | undefined;
  /** A change of it is under way, and its echo in the watch is known by this stamp. */
  readonly attempt?: { readonly stamp?: string | undefined } | undefined;
  readonly failure?: Failure | undefined;
  readonly write?: Write | undefined;
  /** The telemetry proxy that its injection sends to, if it is not this installation's. */
  readonly elsewhere?: string | undefined;
  readonly tooLarge?: boolean | undefined;
  /** The resourceVersion at which the instrumentation was last seen to change. */
  readonly instrumentedVersion?: string | undefined;
  readonly state?: WorkloadState | undefined;
  /** The stamp of the injection that is judged, or that was found to stand. */
  readonly judged?: string | undefined;
  /** When the watch last reported a change of it, if it has a state. */
  readonly changedAt?: number | undefined;
}

export interface Failure {
  readonly policy: NamespacePolicy;
  readonly count: number;
  /** Since when the API server refuses; undefined while it gives no answer, which says nothing of the workload. */
  readonly refusedSince: number | undefined;
  readonly retryAt: number;
  readonly problem: string;
}

export interface Write {
  readonly policy: NamespacePolicy;
  readonly at: number;
  /** When the workload changed next; undefined while it is as it was written. */
  readonly touchedAt: number | undefined;
  /** The number of writes before it that another writer undid, one soon after the other. */
  readonly repeats: number;
}

export const isInstrumented = ({ label }: Pick<ObservedWorkload, 'label'>): boolean => isOurs(label);

export interface ObservedLumigo {
  readonly resource: LumigoResource;
  readonly isBusy: boolean;
  readonly failure: Pick<Failure, 'count' | 'retryAt'> | undefined;
  /** The list in its status; undefined until that of an earlier leader was read. */
  readonly listed: readonly InstrumentedResource[] | undefined;
  /** Its definition is of an earlier version, which does not keep `status.secretVersion`: writing it again would never end. */
  readonly dropsSecretVersion: boolean;
  /** When its status, and the list in it, were last written; -Infinity and 0 before the first time. */
  readonly statusAt: number;
  readonly listedAt: number;
  readonly said?: LumigoStatus;
  /** Number of times in a row that the same status was written because another writer had changed it. */
  readonly repeats?: number;
}

export interface ObservedCredential {
  readonly problem: Problem | undefined;
  /** The Secret's resourceVersion, by which other replicas learn that there is something to read. */
  readonly version: string | undefined;
}

export interface ObservedNamespace {
  /** The same object until it changes. */
  readonly policy: NamespacePolicy;
  /** The API server itself said that there is no Lumigo: a watch may be late. */
  readonly isLumigoGone: boolean;
  readonly lumigoes: readonly ObservedLumigo[];
  readonly acting: string | undefined;
  /** Undefined until the Secret of the one that acts was read. */
  readonly credential: ObservedCredential | undefined;
  readonly workloads: Iterable<ObservedWorkload>;
  readonly webhook: WebhookSeen | undefined;
  readonly telemetry: Problem | 'working' | undefined;
  readonly token: TokenSeen;
  readonly untold: number;
  /** How long a workload that refuses may delay the deletion of its Lumigo. */
  readonly removalDeadlineMs: number;
  /** Namespaces of the cluster in which workloads wait for a change or are being changed. */
  readonly underWay: number;
  readonly rollout: ObservedRollout;
  readonly pods?: PodsSeen | undefined;
}

export interface ObservedRollout {
  readonly settings: JudgeSettings & {
    readonly largestWave: number;
    /** The label of what this version instruments. */
    readonly label: string;
  };
  readonly injector: InjectorHealth;
  /** Whether it is one of the few namespaces of the cluster in which something is changed. */
  readonly hasTurn: boolean;
}

/** The monotonic clock in milliseconds, and the time of day for people. */
export interface Now {
  readonly ms: number;
  readonly iso: string;
}

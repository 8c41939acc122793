import type { WorkloadKind } from '../contract.ts';
import { isOurs } from '../injection/label.ts';
import type { InstrumentedResource, LumigoResource, LumigoStatus, Problem } from '../api/lumigo.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import type { TokenSeen } from '../token-checks/decide-seen.ts';
import type { InjectorHealth } from '../rollout/injector-health.ts';
import type { JudgeSettings, WorkloadState } from '../rollout/workload-state.ts';
import type { WebhookSeen } from '../webhook/probe.ts';

/**
 * What the leader knows of one workload, whatever the size of the object: some 270 bytes where there is no Lumigo, since what was never
 * found out takes no place. It is never changed, only replaced (workload-store.ts), so a plan that is made of it holds for exactly
 * what was seen. Times are milliseconds of the monotonic clock.
 */
export interface ObservedWorkload extends Facts {
  readonly kind: WorkloadKind;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** ISO 8601, by the API server's clock. */
  readonly createdAt: string;
  /** The value of `lumigo.auto-trace`. */
  readonly label: string | undefined;
  /** The operator's annotation as `stampText` returns it: `parseStamp` reads it. */
  readonly stamp?: string | undefined;
  readonly deleting: boolean;
  /** A digest of the user's annotations: another try, these containers, not those. */
  readonly asked?: string | undefined;
}

/** What was found out about a workload, beside what its metadata shows. */
export interface Facts {
  /** The policy under which a check of the whole object found nothing left to do; any change of the workload unsettles it. */
  readonly settled?: NamespacePolicy | undefined;
  /** A change of it is under way, and its echo in the watch is known by this stamp. */
  readonly attempt?: { readonly stamp?: string | undefined } | undefined;
  readonly failure?: Failure | undefined;
  readonly write?: Write | undefined;
  /** The telemetry proxy that its injection sends to, where that is not this installation's. */
  readonly elsewhere?: string | undefined;
  /** It should be changed, and is too large to be decided about: as the check saw it that settled it. */
  readonly tooLarge?: boolean | undefined;
  /** The resourceVersion at which the instrumentation was last seen to change; stands in the Lumigo's status. */
  readonly instrumentedVersion?: string | undefined;
  /** Where it is on its way to run with the injection; undefined: idle. */
  readonly state?: WorkloadState | undefined;
  /** The stamp of the injection that is judged, or that was found to stand. */
  readonly judged?: string | undefined;
  /** When the watch last reported a change of it; of those in a state alone. */
  readonly changedAt?: number | undefined;
}

/** Attempts in a row that came to nothing. */
export interface Failure {
  readonly policy: NamespacePolicy;
  readonly count: number;
  /** Since when the API server refuses; undefined while it merely gives no answer, which says nothing of the workload. */
  readonly refusedSince: number | undefined;
  readonly retryAt: number;
  readonly problem: string;
}

/** The last change that this leader wrote. */
export interface Write {
  readonly policy: NamespacePolicy;
  readonly at: number;
  /** When the workload changed next, by whomever; undefined while it is as it was written. */
  readonly touchedAt: number | undefined;
  /** How many writes before it another writer had put back, one soon after the other. */
  readonly repeats: number;
}

/** Whether a workload's label says that this operator instrumented it. */
export const isInstrumented = ({ label }: Pick<ObservedWorkload, 'label'>): boolean => isOurs(label);

/** A Lumigo as the leader knows it. */
export interface ObservedLumigo {
  readonly resource: LumigoResource;
  readonly isBusy: boolean;
  readonly failure: Pick<Failure, 'count' | 'retryAt'> | undefined;
  /** The list in its status, which the store does not keep; undefined until an earlier leader's was read. */
  readonly listed: readonly InstrumentedResource[] | undefined;
  /** Its definition is of an earlier version, which does not keep `status.secretVersion`: writing it again would never end. */
  readonly dropsSecretVersion: boolean;
  /** When its status, and the list in it, were last written; -Infinity and 0 before the first time. */
  readonly statusAt: number;
  readonly listedAt: number;
  /** The last status that this leader wrote, without its list. */
  readonly said?: LumigoStatus;
  /** Number of times in a row that the same status was written because another writer had changed it. */
  readonly repeats?: number;
}

/** What is known of the token of the Lumigo that acts. */
export interface ObservedCredential {
  readonly problem: Problem | undefined;
  /** The Secret's resourceVersion, by which other replicas know that there is something to read. */
  readonly version: string | undefined;
}

/** Everything that decides about one namespace. Nothing in it changes while a plan is made. */
export interface ObservedNamespace {
  /** The same object for as long as it says the same. */
  readonly policy: NamespacePolicy;
  /** The API server itself was asked, and there is no Lumigo here: a watch may merely be late. */
  readonly isLumigoGone: boolean;
  readonly lumigoes: readonly ObservedLumigo[];
  /** The uid of the one that acts. */
  readonly acting: string | undefined;
  /** Undefined where the Secret of the one that acts was not read yet. */
  readonly credential: ObservedCredential | undefined;
  readonly workloads: Iterable<ObservedWorkload>;
  /** Whether the API server reaches the webhook; undefined until it was tried. */
  readonly webhook: WebhookSeen | undefined;
  /** Whether events and objects are collected; undefined until the telemetry proxy was asked to. */
  readonly telemetry: Problem | 'working' | undefined;
  readonly token: TokenSeen;
  /** Events of the namespace that are not posted yet. */
  readonly untold: number;
  /** How long a workload that refuses may hold up the deletion of its Lumigo. */
  readonly removalDeadlineMs: number;
  /** Namespaces of the cluster in which workloads wait for a change or are being changed. */
  readonly underWay: number;
  readonly rollout: ObservedRollout;
  /** Its pods, in Pod mode; undefined until they are counted. */
  readonly pods?: PodsSeen | undefined;
}

/** The numbers of pods of a namespace in Pod mode. */
export interface PodsSeen {
  readonly namespace: string;
  readonly injected: number;
  /** Those that would be injected if they were created now. */
  readonly without: number;
  /** Their workloads as `kubectl rollout restart` takes them, such as `deployment/shop`. */
  readonly restart: readonly string[];
}

/** What decides about the workloads of a namespace that are on their way. */
export interface ObservedRollout {
  readonly settings: JudgeSettings & {
    readonly largestWave: number;
    /** The label of what this version instruments. */
    readonly label: string;
  };
  /** What the cluster knows of the injector. */
  readonly injector: InjectorHealth;
  /** Whether it is one of the few namespaces of the cluster in which something is changed. */
  readonly hasTurn: boolean;
}

/** The monotonic clock in milliseconds, and the time of day for people. */
export interface Now {
  readonly ms: number;
  readonly iso: string;
}

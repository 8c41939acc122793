import type { InstrumentedResource, LumigoResource, NamespacePolicy } from '../injection/types.ts';
import type { Problem } from '../problem.ts';
import type { Failure, ObservedWorkload } from './observed.ts';

/** A Lumigo as the leader knows it. */
export interface ObservedLumigo {
  readonly resource: LumigoResource;
  /** Something is being written to it. */
  readonly isBusy: boolean;
  readonly failure: Pick<Failure, 'count' | 'retryAt'> | undefined;
  /** The list in its status, which the store does not keep; undefined until an earlier leader's was read. */
  readonly listed: readonly InstrumentedResource[] | undefined;
  /** Its definition is of an earlier version, which does not keep `status.secretVersion`: writing it again would never end. */
  readonly dropsSecretVersion: boolean;
  /** When its status was last written, by the monotonic clock; 0: not yet. */
  readonly statusAt: number;
}

/** What is known of the token of the Lumigo that acts; undefined where its Secret was not read yet. */
export interface ObservedCredential {
  readonly problem: Problem | undefined;
  /** The Secret's resourceVersion, by which other replicas know that there is something to read. */
  readonly version: string | undefined;
}

/** Everything that decides about one namespace. Nothing in it changes while a plan is made. */
export interface ObservedNamespace {
  readonly namespace: string;
  readonly policy: NamespacePolicy;
  readonly isLumigoGone: boolean;
  readonly lumigoes: readonly ObservedLumigo[];
  /** The uid of the one that acts. */
  readonly acting: string | undefined;
  readonly credential: ObservedCredential | undefined;
  readonly workloads: Iterable<ObservedWorkload>;
  readonly webhook: Problem | 'reachable' | undefined;
  readonly telemetry: Problem | 'working' | undefined;
  /** Events of the namespace that are not posted yet. */
  readonly untold: number;
}

export interface PlanSettings {
  /** How long a workload that refuses may hold up the deletion of its Lumigo. */
  readonly removalDeadlineMs: number;
}

/** The monotonic clock in milliseconds, and the time of day for people. */
export interface Now {
  readonly ms: number;
  readonly iso: string;
}

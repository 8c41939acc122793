import type { WorkloadKind } from '../contract.ts';
import { isOurs } from '../injection/label.ts';
import type { NamespacePolicy } from '../injection/types.ts';

/**
 * What the leader knows of one workload: some 600 bytes, whatever the size of the object. It is never changed, only
 * replaced (workload-store.ts), so a plan that is made of it holds for exactly what was seen. Times are milliseconds of
 * the monotonic clock.
 */
export interface ObservedWorkload {
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
  /** The operator's annotation, as text (injection/stamp.ts reads it). */
  readonly stamp: string | undefined;
  readonly deleting: boolean;
  /** The policy under which a look at the whole object found nothing left to do; any change of the workload unsettles it. */
  readonly settled: NamespacePolicy | undefined;
  /** The change that is under way. */
  readonly attempt: Attempt | undefined;
  readonly failure: Failure | undefined;
  readonly write: Write | undefined;
  /** The telemetry proxy that its injection sends to, where that is not this installation's. */
  readonly elsewhere: string | undefined;
  /** The stamp whose event is posted, or about to be. */
  readonly told: string | undefined;
  /** The resourceVersion at which the instrumentation was last seen to change; stands in the Lumigo's status. */
  readonly instrumentedVersion: string | undefined;
}

/** A change that is under way, the policy it was planned under, and the stamp by which its echo in the watch is known. */
export interface Attempt {
  readonly policy: NamespacePolicy;
  readonly stamp: string | undefined;
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

import type * as api from '@kubernetes/client-node';
import type { Metadata, Sparse } from '../../api/objects.ts';

/** Its times are RFC 3339 with microseconds, by the holder's clock. */
export type LeaseSpec = Sparse<api.V1LeaseSpec>;

/** A Lease, whole: it is written back with what this program does not know. */
export interface Lease {
  readonly metadata: Metadata & { readonly resourceVersion: string };
  readonly spec?: LeaseSpec;
  readonly [field: string]: unknown;
}

/** A Lease as last read, and when this candidate first saw it at that version, by its own monotonic clock. */
export interface SeenLease {
  readonly lease: Lease;
  readonly since: number;
}

/** Takes in what was read. Only a new version restarts the wait: a holder that lives writes. */
export function seeLease(before: SeenLease | undefined, lease: Lease, now: number): SeenLease {
  const same = before?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
  return same && before !== undefined ? before : { lease, since: now };
}

export interface ElectionTimes {
  /** How long a holder that fell silent keeps the others waiting: whole seconds. */
  readonly leaseDurationMs: number;
  /** How long the leader tries to renew before it stops leading; less than the lease lasts. */
  readonly renewDeadlineMs: number;
  /** Between two renewals, and between two attempts of a candidate; less than the deadline. */
  readonly retryPeriodMs: number;
}

/**
 * How many milliseconds until a candidate reads the Lease again that it sees; 0: it may be taken, or made where there is none.
 * It may be taken when nobody holds it, when it is held in the candidate's
 * own name (an earlier life of it: the same pod, whose container was restarted), or when it did not change for as long as
 * it lasts. That is measured by watching it, never by comparing its times with this machine's clock, which may be wrong.
 */
export function planLease(seen: SeenLease | undefined, now: number, identity: string, times: ElectionTimes): number {
  const { holderIdentity = '', leaseDurationSeconds } = seen?.lease.spec ?? {};
  if (seen === undefined || holderIdentity === '' || holderIdentity === identity) return 0;
  // A Lease need not say how long it lasts.
  const lastsMs = leaseDurationSeconds === undefined ? times.leaseDurationMs : leaseDurationSeconds * 1000;
  const leftMs = seen.since + lastsMs - now;
  return Math.max(0, Math.min(leftMs, times.retryPeriodMs));
}

/** The spec of a Lease just taken, or renewed. A change of hands is counted, and a new term has a new acquireTime. */
export function heldSpec(
  before: LeaseSpec | undefined,
  identity: string,
  { leaseDurationMs }: Pick<ElectionTimes, 'leaseDurationMs'>,
  now: Date,
): LeaseSpec {
  const isRenewal = before?.holderIdentity === identity;
  const transitions = before?.leaseTransitions ?? 0;
  const time = microTime(now);
  return {
    ...before,
    holderIdentity: identity,
    leaseDurationSeconds: leaseDurationMs / 1000,
    acquireTime: isRenewal ? (before.acquireTime ?? time) : time,
    renewTime: time,
    leaseTransitions: isRenewal || before === undefined ? transitions : transitions + 1,
  };
}

/** The spec of a Lease given back: free for anyone at once. The server demands a duration of at least a second. */
export function releasedSpec(before: LeaseSpec | undefined, now: Date): LeaseSpec {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
}

/** The API server's MicroTime takes exactly six digits. */
const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z');

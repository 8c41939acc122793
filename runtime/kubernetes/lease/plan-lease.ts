import type * as api from '@kubernetes/client-node';
import type { Metadata, DeepPartial } from '../../api/objects.ts';

/** Its times are RFC 3339 with microseconds, by the holder's clock. */
export type LeaseSpec = DeepPartial<api.V1LeaseSpec>;

/** A whole Lease: an update sends back the fields that this program does not know. */
export interface Lease {
  readonly metadata: Metadata & { readonly resourceVersion: string };
  readonly spec?: LeaseSpec;
  readonly [field: string]: unknown;
}

/** `since`: when this candidate first saw this version, by its own monotonic clock. */
export interface SeenLease {
  readonly lease: Lease;
  readonly since: number;
}

/** Only a new version restarts the wait, because a live holder writes. */
export function seeLease(before: SeenLease | undefined, lease: Lease, now: number): SeenLease {
  const same = before?.lease.metadata.resourceVersion === lease.metadata.resourceVersion;
  return same && before !== undefined ? before : { lease, since: now };
}

/** Each is shorter than the one before it. Otherwise two could lead at once. */
export interface ElectionTimes {
  /** A multiple of 1,000, because the API has whole seconds. */
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/**
 * Returns in how many milliseconds to read the Lease again; 0 if it can be taken. It is free without a holder, after
 * its duration without a change, or if its holder is this candidate before a restart. The candidate watches the
 * duration itself, because either clock may be wrong.
 */
export function planLease(seen: SeenLease | undefined, now: number, identity: string, times: ElectionTimes): number {
  const { holderIdentity = '', leaseDurationSeconds } = seen?.lease.spec ?? {};
  if (seen === undefined || holderIdentity === '' || holderIdentity === identity) return 0;
  const lastsMs = leaseDurationSeconds === undefined ? times.leaseDurationMs : leaseDurationSeconds * 1000;
  const leftMs = seen.since + lastsMs - now;
  return Math.max(0, Math.min(leftMs, times.retryPeriodMs));
}

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

/** The server demands a duration of at least one second. */
export function releasedSpec(before: LeaseSpec | undefined, now: Date): LeaseSpec {
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
}

/** The API server's MicroTime takes exactly six digits. */
const microTime = (date: Date): string => date.toISOString().replace('Z', '000Z');

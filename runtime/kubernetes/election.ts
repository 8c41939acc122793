import type { Client } from './client.ts';
import type { Logger } from 'pino';
import type { OwnerReference } from './owners.ts';
import type { Lease } from './plan-lease.ts';

export interface LeadingContext {
  /** Aborted when the leadership ends, before anyone else can have it. */
  readonly signal: AbortSignal;
  /**
   * Throws where the leadership has ended by the clock, even before anything could be told so: a process that stood still
   * longer than its Lease must not finish what it had begun.
   */
  readonly fence: () => void;
  /** When an earlier leader (or an earlier life of this one) was last alive, RFC 3339; undefined when there was none. */
  readonly previousRenewTime: string | undefined;
}

export interface ElectionOptions {
  readonly client: Client;
  readonly namespace: string;
  /** The Lease's name. */
  readonly name: string;
  /** Whose the Lease is, if it has to be made: it goes with them. Default: nobody's. */
  readonly owners?: (() => Promise<readonly OwnerReference[]>) | undefined;
  /** Who we are; the pod's name. Two processes must never have the same at the same time. */
  readonly identity: string;
  /** How long a holder that fell silent keeps the others waiting. Default 15. */
  readonly leaseDurationSeconds?: number | undefined;
  /** How long the leader tries to renew before it stops leading; less than the lease lasts. Default 10. */
  readonly renewDeadlineSeconds?: number | undefined;
  /** Between two renewals, and between two looks of a candidate; less than the deadline. Default 5: 12 requests a minute. */
  readonly retryPeriodSeconds?: number | undefined;
  /** Ends the leadership, or the waiting for it. */
  readonly signal: AbortSignal;
  /**
   * This process leads from now on. What it returns is waited for before the Lease is given back or applied for again, so a
   * promise of the work's end keeps two leaders from working at a time. When it throws, the leadership is given up.
   */
  readonly onStartedLeading: (context: LeadingContext) => void | Promise<void>;
  /** Called after the context's signal was aborted. */
  readonly onStoppedLeading?: (() => void) | undefined;
  readonly logger?: Logger | undefined;
}

export interface ElectionTimes {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}

/** A Lease in our name. */
export interface TakenLease {
  readonly lease: Lease;
  /** By the monotonic clock, when the request that took it was sent: others count from a later moment. */
  readonly takenAt: number;
  readonly previousRenewTime: string | undefined;
}

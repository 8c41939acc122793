import { pause, retrying } from '../../async/retrying.ts';
import { LeaseHolder } from './lease-holder.ts';
import { type LeadingOptions, leadTerm, type TakenLease } from './leading-term.ts';
import { type ElectionTimes, planLease, type SeenLease, seeLease } from './plan-lease.ts';

export interface ElectionOptions extends LeadingOptions {
  /** Default: 15, 10 and 5 seconds, which is 12 requests a minute. */
  readonly times?: ElectionTimes | undefined;
}

const usualTimes: ElectionTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 5_000 };

/**
 * Stands for election until the signal is aborted, and again after each lost leadership. Resolves when nothing is left to
 * do: the Lease is given back if it was held. Rejects only where the times make no sense.
 */
export async function elect(options: ElectionOptions): Promise<void> {
  const { times = usualTimes } = options;
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = times;
  if (!(leaseDurationMs > renewDeadlineMs && renewDeadlineMs > retryPeriodMs))
    throw new RangeError(
      `The lease duration (${leaseDurationMs} ms) must be longer than the renew deadline (${renewDeadlineMs} ms), and that must be longer than the retry period (${retryPeriodMs} ms).`,
    );
  const holder = new LeaseHolder(options, times);
  while (!options.signal.aborted) {
    const taken = await acquire(holder, times, options);
    if (taken !== undefined) await leadTerm({ ...options, ...taken, times, holder });
  }
}

/** Watches the Lease until it can be had, and takes it. Undefined when the signal is aborted first. */
async function acquire(
  holder: LeaseHolder,
  times: ElectionTimes,
  { identity, signal, logger, name }: ElectionOptions,
): Promise<TakenLease | undefined> {
  let seen: SeenLease | undefined;
  /** Reads the Lease and takes it where it may be had; else how long to wait. */
  const tryToTake = async (): Promise<TakenLease | number> => {
    const found = await holder.read(signal);
    const takenAt = performance.now();
    seen = found === undefined ? undefined : seeLease(seen, found, takenAt);
    const waitMs = planLease(seen, takenAt, identity, times);
    if (waitMs > 0) return waitMs;
    // Not interrupted by the signal: a Lease taken without our knowledge would keep everyone waiting.
    const lease = await holder.hold(found);
    return lease === undefined ? times.retryPeriodMs : { lease, takenAt, previousRenewTime: found?.spec?.renewTime };
  };
  const pace = { firstMs: times.retryPeriodMs, maxMs: times.retryPeriodMs };
  const failure = 'cannot acquire the lease, retrying';
  while (!signal.aborted) {
    const outcome = await retrying(tryToTake, { signal, logger, failure, fields: { lease: name }, ...pace });
    if (typeof outcome !== 'number') return outcome;
    // Candidates that try at the same moment would all collide there.
    await pause(outcome * (1 + Math.random() / 10), signal);
  }
  return undefined;
}

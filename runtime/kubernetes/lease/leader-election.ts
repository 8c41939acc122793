import { pause, retrying } from '../../async/retrying.ts';
import { LeaseHolder } from './lease-holder.ts';
import { type LeadingOptions, leadTerm, type TakenLease } from './leading-term.ts';
import { type ElectionTimes, planLease, type SeenLease, seeLease } from './plan-lease.ts';

export interface ElectionOptions extends LeadingOptions {
  /** Default: 15, 10 and 5 seconds, which is 12 requests a minute. */
  readonly times?: ElectionTimes | undefined;
}

const usualTimes: ElectionTimes = { leaseDurationMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 5_000 };

/** Campaigns until the signal is aborted, then releases the Lease. Never rejects. */
export async function elect(options: ElectionOptions): Promise<void> {
  const { times = usualTimes } = options;
  const holder = new LeaseHolder(options, times);
  while (!options.signal.aborted) {
    const taken = await acquire(holder, times, options);
    if (taken !== undefined) await leadTerm({ ...options, ...taken, times, holder });
  }
}

async function acquire(
  holder: LeaseHolder,
  times: ElectionTimes,
  { identity, signal, logger, name }: ElectionOptions,
): Promise<TakenLease | undefined> {
  let seen: SeenLease | undefined;
  const tryToTake = async (): Promise<TakenLease | number> => {
    const found = await holder.read(signal);
    const takenAt = performance.now();
    seen = found === undefined ? undefined : seeLease(seen, found, takenAt);
    const waitMs = planLease(seen, takenAt, identity, times);
    if (waitMs > 0) return waitMs;
    // The signal must not interrupt it: a Lease that was taken unnoticed would block all candidates.
    const lease = await holder.hold(found);
    return lease === undefined ? times.retryPeriodMs : { lease, takenAt, previousRenewTime: found?.spec?.renewTime };
  };
  const pace = { firstMs: times.retryPeriodMs, maxMs: times.retryPeriodMs };
  const failure = 'cannot acquire the lease, retrying';
  while (!signal.aborted) {
    const outcome = await retrying(tryToTake, { signal, logger, failure, fields: { lease: name }, ...pace });
    if (typeof outcome !== 'number') return outcome;
    // Candidates that try at the same moment would collide each time.
    await pause(outcome * (1 + Math.random() / 10), signal);
  }
  return undefined;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { describeError } from '../errors.ts';
import type { ElectionOptions, ElectionTimes, TakenLease } from './election.ts';
import { LeaseHolder } from './lease-holder.ts';
import { leadTerm } from './leading-term.ts';
import { type Candidate, planLease, type SeenLease, seeLease } from './plan-lease.ts';

export type { ElectionOptions, LeadingContext } from './election.ts';

/**
 * Stands for election until the signal is aborted, and again after each lost leadership. Resolves when nothing is left to
 * do: the Lease is given back if it was held. Rejects only where the times make no sense.
 */
export async function elect(options: ElectionOptions): Promise<void> {
  const times = timesOf(options);
  // Two attempts fit between a renewal that fails and the deadline, also when the first hangs on a dead connection.
  const timeoutMs = (times.renewDeadlineMs - times.retryPeriodMs) * 0.6;
  const holder = new LeaseHolder({ ...options, leaseDurationSeconds: times.leaseDurationMs / 1000, timeoutMs });
  while (!options.signal.aborted) {
    const taken = await acquire(holder, times, options);
    if (taken !== undefined) await leadTerm({ ...options, ...taken, times, holder });
  }
}

function timesOf(options: ElectionOptions): ElectionTimes {
  const { leaseDurationSeconds = 15, renewDeadlineSeconds = 10, retryPeriodSeconds = 5 } = options;
  if (!(leaseDurationSeconds > renewDeadlineSeconds && renewDeadlineSeconds > retryPeriodSeconds))
    throw new RangeError(
      `A lease must last longer (${leaseDurationSeconds} s) than its renewal may take (${renewDeadlineSeconds} s), and that longer than the pause between attempts (${retryPeriodSeconds} s).`,
    );
  return {
    leaseDurationMs: leaseDurationSeconds * 1000,
    renewDeadlineMs: renewDeadlineSeconds * 1000,
    retryPeriodMs: retryPeriodSeconds * 1000,
  };
}

/** Watches the Lease until it can be had, and takes it. Undefined when the signal is aborted first. */
async function acquire(
  holder: LeaseHolder,
  times: ElectionTimes,
  { identity, signal, logger, name }: ElectionOptions,
): Promise<TakenLease | undefined> {
  const candidate = { ...times, identity };
  const view: View = { seen: undefined };
  let problem: string | undefined;
  while (!signal.aborted) {
    const outcome = await look({ holder, candidate, view, signal }).catch((error: unknown) => ({
      problem: describeError(error),
    }));
    if ('lease' in outcome) return outcome;
    if ('problem' in outcome && outcome.problem !== problem && !signal.aborted)
      logger?.warn({ lease: name, problem: outcome.problem }, 'cannot stand for election');
    problem = 'problem' in outcome ? outcome.problem : undefined;
    // Candidates that look at the same moment would all collide there.
    const waitMs = 'ms' in outcome ? outcome.ms : times.retryPeriodMs;
    await sleep(waitMs * (1 + Math.random() / 10), undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

interface Look {
  readonly holder: LeaseHolder;
  readonly candidate: Candidate;
  readonly view: View;
  readonly signal: AbortSignal;
}

interface View {
  seen: SeenLease | undefined;
}

/** One look at the Lease, and an attempt to take it where the plan says so. */
async function look({ holder, candidate, view, signal }: Look): Promise<TakenLease | { readonly ms: number }> {
  const lease = await holder.read(signal);
  const now = performance.now();
  view.seen = lease === undefined ? undefined : seeLease(view.seen, lease, now);
  const plan = planLease(view.seen, now, candidate);
  if (plan.step === 'wait') return plan;
  // Not interrupted by the signal: a Lease taken without our knowledge would keep everyone waiting.
  const taken = await holder.hold(lease);
  if (taken === undefined) return { ms: candidate.retryPeriodMs };
  return { lease: taken, takenAt: now, previousRenewTime: lease?.spec?.renewTime };
}

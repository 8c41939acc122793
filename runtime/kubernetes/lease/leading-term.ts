import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { pause, retrying } from '../../async/retrying.ts';
import { describeError } from '../../wording/errors.ts';
import { createClient, type Client } from '../http/client.ts';
import { FencedError } from '../http/exchange.ts';
import type { LeaseHolder, LeaseOptions } from './lease-holder.ts';
import type { ElectionTimes, Lease } from './plan-lease.ts';
import { withBounds, type Transport } from '../http/transport.ts';

export interface LeadingContext {
  /** Aborted before another replica can lead. */
  readonly signal: AbortSignal;
  /** Throws if the leadership has expired by the clock: a process that was suspended must not finish its work. */
  readonly fence: () => void;
  /** The last renewal by an earlier leader, RFC 3339; undefined if there is no Lease of one. */
  readonly previousRenewTime: string | undefined;
}

/** Returns a client whose requests end with the term, and fail once another replica can lead. */
export const termClient = (transport: Transport, { signal, fence }: LeadingContext): Client =>
  createClient(withBounds(transport, { signal, fence }));

export interface TakenLease extends Pick<LeadingContext, 'previousRenewTime'> {
  readonly lease: Lease;
  /** The time of the request, by the monotonic clock. Other candidates count from a later moment. */
  readonly takenAt: number;
}

export interface LeadingOptions extends LeaseOptions {
  readonly signal: AbortSignal;
  /** The Lease is released after this work ends, so two leaders never work at once. An error ends the term. */
  readonly onStartedLeading: (context: LeadingContext) => void | Promise<void>;
  readonly logger?: Logger | undefined;
}

interface TermOptions extends LeadingOptions, TakenLease {
  readonly times: ElectionTimes;
  readonly holder: LeaseHolder;
}

export async function leadTerm(options: TermOptions): Promise<void> {
  const { signal, logger, name, identity, times } = options;
  const term = new Term(options);
  const onStop = (): void => term.end('stopped');
  signal.addEventListener('abort', onStop, { once: true });
  if (signal.aborted) onStop();
  logger?.info({ lease: name, identity }, 'leading');
  const work = signal.aborted ? Promise.resolve() : startWork(options, term);
  await term.renewUntilTheEnd();
  signal.removeEventListener('abort', onStop);
  logger?.info({ lease: name, identity, cause: term.cause }, 'no longer leading');
  const isDone = work.then(() => true);
  if (term.cause !== 'lost' && (await Promise.race([isDone, sleep(term.leftMs, false, { ref: false })])))
    await term.release();
  if (signal.aborted) return;
  await work;
  // A replica that failed lets another one try first.
  if (term.cause === 'failed') await pause(times.retryPeriodMs * 2, signal);
}

/** `stopped`: on request. `failed`: the work threw. `lost`: another replica leads, or renewing took too long. */
type EndCause = 'stopped' | 'failed' | 'lost';

class Term {
  private readonly ending = new AbortController();
  readonly signal = this.ending.signal;
  private deadline: NodeJS.Timeout | undefined;
  private lease: Lease;
  private renewedAt: number;
  cause: EndCause | undefined;

  constructor(private readonly options: TermOptions) {
    this.lease = options.lease;
    this.renewedAt = options.takenAt;
    this.arm();
  }

  /** The time until the term ends unless it is renewed, which is well before the Lease expires for the others. */
  get leftMs(): number {
    return Math.max(0, this.renewedAt + this.options.times.renewDeadlineMs - performance.now());
  }

  throwIfOver(): void {
    if (this.leftMs === 0) this.end('lost');
    if (this.leftMs === 0 || (this.cause !== 'stopped' && this.signal.aborted))
      throw new FencedError(`This replica no longer holds the lease ${this.options.name}.`);
  }

  end(cause: EndCause): void {
    if (this.cause !== undefined) return;
    this.cause = cause;
    clearTimeout(this.deadline);
    this.ending.abort(new Error(`This replica no longer holds the lease ${this.options.name} (${cause}).`));
  }

  async renewUntilTheEnd(): Promise<void> {
    const { times, logger, name } = this.options;
    const { signal } = this;
    const pace = { firstMs: times.retryPeriodMs / 5, maxMs: times.retryPeriodMs / 5 };
    const failure = 'cannot renew the lease, retrying';
    for (let pauseMs = times.retryPeriodMs; !signal.aborted;) {
      await pause(pauseMs, signal);
      const renewed = await retrying(() => this.renew(), { signal, logger, failure, fields: { lease: name }, ...pace });
      pauseMs = renewed ? times.retryPeriodMs : 0;
    }
  }

  async release(): Promise<void> {
    const { holder, identity, logger, name } = this.options;
    try {
      if ((await holder.release(this.lease)) !== undefined) return;
      // The end of the term interrupted a renewal that the server had accepted.
      const found = await holder.read();
      if (found?.spec?.holderIdentity === identity) await holder.release(found);
    } catch (error) {
      logger?.warn({ lease: name, problem: describeError(error) }, 'cannot release the lease, it will expire');
    }
  }

  private async renew(): Promise<boolean> {
    const { holder, identity } = this.options;
    const sentAt = performance.now();
    const renewed = await holder.hold(this.lease, this.signal);
    if (renewed !== undefined) {
      this.lease = renewed;
      this.renewedAt = sentAt;
      if (!this.signal.aborted) this.arm();
      return true;
    }
    // Another replica holds the Lease, its annotations changed, or the answer to our own write was lost.
    const found = await holder.read(this.signal);
    if (found?.spec?.holderIdentity !== identity) this.end('lost');
    else this.lease = found;
    return false;
  }

  private arm(): void {
    clearTimeout(this.deadline);
    this.deadline = setTimeout(() => this.end('lost'), this.leftMs);
  }
}

async function startWork(options: TermOptions, term: Term): Promise<void> {
  const { onStartedLeading, previousRenewTime, logger, name } = options;
  const { signal } = term;
  try {
    await onStartedLeading({ signal, fence: () => term.throwIfOver(), previousRenewTime });
  } catch (error) {
    if (signal.aborted) return;
    logger?.error({ lease: name, problem: describeError(error) }, 'leader work failed, releasing the lease');
    term.end('failed');
  }
}

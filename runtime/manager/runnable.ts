import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { aborted, listenable } from '../async/aborted.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { LeadingContext } from '../kubernetes/lease/leading-term.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { Metrics } from '../observability/metrics.ts';

export interface Shared {
  readonly config: RuntimeConfig;
  readonly transport: Transport;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Something that runs on every replica, until it is stopped. */
export interface Runnable {
  readonly name: string;
  readonly needsToLead?: false;
  /** Returns why this replica is not ready; empty if it is. Left out: always ready. */
  readonly unready?: () => readonly string[];
  /** Runs until the signal is aborted. A rejection ends the manager. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** Something that runs on the leader, for the time of its term. A rejection ends the term. */
export interface LeaderRunnable {
  readonly name: string;
  readonly needsToLead: true;
  readonly run: (term: LeadingContext) => Promise<void>;
}

export type ManagerRunnable = Runnable | LeaderRunnable;

/** Starts all in order. After an abort or a failure, it stops them in reverse, one by one. Throws the first failure. */
export async function runAll(runnables: readonly Runnable[], signal: AbortSignal, logger: Logger): Promise<void> {
  const failed = new AbortController();
  const running = runnables.map(({ name, run }) => {
    const stop = listenable();
    const stopped = run(stop.signal).catch((error: unknown) => {
      logger.error({ runnable: name, err: error }, 'runnable failed, stopping the manager');
      failed.abort(error);
    });
    return { name, stop, stopped };
  });
  await aborted(AbortSignal.any([signal, failed.signal]));
  for (const { name, stop, stopped } of running.reverse()) {
    logger.debug({ runnable: name }, 'stopping');
    stop.abort();
    await stopped;
  }
  failed.signal.throwIfAborted();
}

export async function leadAll(runnables: readonly LeaderRunnable[], term: LeadingContext): Promise<void> {
  setMaxListeners(0, term.signal);
  await Promise.all(
    runnables.map(({ name, run }) =>
      run(term).catch((error: unknown) => {
        if (!term.signal.aborted) throw new Error(`${name} failed`, { cause: error });
      }),
    ),
  );
}

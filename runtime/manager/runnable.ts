import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { aborted, listenable } from '../async/aborted.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { LeadingContext } from '../kubernetes/lease/leading-term.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import type { Metrics } from '../observability/metrics.ts';

/** What the parts of the manager share. */
export interface Shared {
  readonly config: RuntimeConfig;
  readonly transport: Transport;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** A part of the manager that runs on every replica, for as long as the manager does. */
export interface Runnable {
  readonly name: string;
  readonly needsToLead?: false;
  /** What keeps this replica from being ready, in words; empty when nothing of this part does. Left out: nothing ever does. */
  readonly unready?: () => readonly string[];
  /** Runs until the signal is aborted, and resolves when nothing of it is left. A rejection ends the manager. */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** A part that runs on the replica that leads, for as long as its term lasts. A rejection ends the term. */
export interface LeaderRunnable {
  readonly name: string;
  readonly needsToLead: true;
  /** Runs until the term's signal is aborted. */
  readonly run: (term: LeadingContext) => Promise<void>;
}

export type Part = Runnable | LeaderRunnable;

/**
 * Starts everything in the order of the list; once the signal is aborted, or one of them fails, stops everything in the
 * reverse order, each when the one after it has stopped. @throws what the first of them failed with
 */
export async function runAll(runnables: readonly Runnable[], signal: AbortSignal, logger: Logger): Promise<void> {
  const failures: unknown[] = [];
  const failed = new AbortController();
  const running = runnables.map(({ name, run }) => {
    const stop = listenable();
    const stopped = run(stop.signal).catch((error: unknown) => {
      failures.push(error);
      logger.error({ part: name, err: error }, 'part failed, stopping the manager');
      failed.abort();
    });
    return { name, stop, stopped };
  });
  await Promise.race([aborted(signal), aborted(failed.signal)]);
  for (const { name, stop, stopped } of running.reverse()) {
    logger.debug({ part: name }, 'stopping');
    stop.abort();
    await stopped;
  }
  if (failures.length > 0) throw failures[0];
}

/** Runs everything that needs to lead, side by side: the end of a term ends all of it at once. */
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

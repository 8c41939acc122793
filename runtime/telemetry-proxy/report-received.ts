import { text } from 'node:stream/consumers';
import { pause } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { createClient } from '../kubernetes/http/client.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';
import { getLocal } from '../serving/get-local.ts';
import { describeError } from '../wording/errors.ts';
import type { InstrumentedSenders } from './instrumented-senders.ts';
import { receivedList } from './received-list.ts';
import { parseCounts } from './render-counts.ts';

interface ReportOptions extends Omit<Watching, 'signal'> {
  readonly config: RuntimeConfig;
  readonly senders: InstrumentedSenders;
}

/** The time between two reads of the collector's counts, while a workload is awaited. */
const AWAITING_MS = 2_000;
/** And otherwise. Some collectors forget old counts only when they are read. */
const IDLE_MS = 30_000;
/** One request a minute on average. A few may follow each other. */
const requests = { everyMs: 60_000, inARow: 5 };

/** Reads on every replica which workloads its telemetry proxy received data from, and adds them to the common list. */
export async function reportReceived(options: ReportOptions, signal: AbortSignal): Promise<void> {
  const { config, transport, senders, logger } = options;
  const list = receivedList(createClient(transport), config);
  const pace = new Pace();
  for (let readAt = -Infinity; !signal.aborted; await pause(AWAITING_MS, signal)) {
    if (!senders.isAnyAwaited && performance.now() < readAt + IDLE_MS) continue;
    readAt = performance.now();
    senders.hear(parseCounts(await readCounts(config.telemetryCountsPort)));
    const uids = senders.pending();
    if (uids.length === 0 || !pace.allows(performance.now())) continue;
    try {
      senders.reported(await list.add(uids));
    } catch (error) {
      if (!signal.aborted)
        logger.debug({ problem: describeError(error) }, 'cannot report received telemetry, retrying');
    }
  }
}

class Pace {
  private paidUntil = -Infinity;

  allows(now: number): boolean {
    const paidUntil = Math.max(this.paidUntil, now);
    if (paidUntil - now > requests.everyMs * (requests.inARow - 1)) return false;
    this.paidUntil = paidUntil + requests.everyMs;
    return true;
  }
}

/** Returns no text while the collector reloads. */
const readCounts = (port: number): Promise<string> =>
  getLocal({ port, path: '/metrics' })
    .then(text)
    .catch(() => '');

import { text } from 'node:stream/consumers';
import { pause, retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { createClient } from '../kubernetes/http/client.ts';
import type { Watching } from '../kubernetes/watch/watches.ts';
import { getLocal, upToLimit } from '../serving/get-local.ts';
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
/** After a report, so that many new workloads share the next one. */
const REPORTED_MS = 10_000;

/** Reads on every replica which workloads its telemetry proxy received data from, and adds them to the common list. */
export async function reportReceived(options: ReportOptions, signal: AbortSignal): Promise<void> {
  const { config, transport, senders, logger } = options;
  const list = receivedList(createClient(transport), config);
  const failure = 'cannot report received telemetry, retrying';
  for (let readAt = -Infinity; !signal.aborted; await pause(AWAITING_MS, signal)) {
    if (!senders.isAnyAwaited && performance.now() < readAt + IDLE_MS) continue;
    readAt = performance.now();
    senders.hear(parseCounts(await readCounts(config.telemetryCountsPort)));
    const uids = senders.pending();
    if (uids.length === 0) continue;
    senders.reported((await retrying(() => list.add(uids), { signal, logger, failure })) ?? []);
    await pause(REPORTED_MS, signal);
  }
}

/** Returns no text while the collector reloads, or if the page is too long. */
const readCounts = (port: number): Promise<string> =>
  getLocal({ port, path: '/metrics' })
    .then((page) => text(upToLimit(page)))
    .catch(() => '');

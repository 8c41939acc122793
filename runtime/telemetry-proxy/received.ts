import { text } from 'node:stream/consumers';
import { pause, retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { maxReceived, suffixes } from '../contract.ts';
import { ownMetadata } from '../installation/installation.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { configMapRecord } from '../kubernetes/resources/record.ts';
import { watchChanges, type Watching } from '../kubernetes/watch/watches.ts';
import { getLocal, upToLimit } from '../serving/get-local.ts';
import { describeError } from '../wording/errors.ts';
import type { InstrumentedSenders } from './instrumented-senders.ts';
import { parseCounts } from './render-counts.ts';

interface ReceivedOptions extends Omit<Watching, 'signal'> {
  readonly config: RuntimeConfig;
  readonly senders: InstrumentedSenders;
}

/** The time between two reads of the collector's counts, while a workload is awaited. */
const AWAITING_MS = 2_000;
/** And otherwise. Some collectors forget old counts only when they are read. */
const IDLE_MS = 30_000;
/** After a report, so that many new workloads share the next one. */
const REPORTED_MS = 10_000;
const MINUTE_MS = 60_000;
const POLL_MS = 1_000;

/** Reads on every replica which workloads its telemetry proxy received data from, and adds them to the common list. */
export async function reportReceived(options: ReceivedOptions, signal: AbortSignal): Promise<void> {
  const { config, transport, senders, logger } = options;
  const list = receivedList(createClient(transport), config);
  const failure = 'cannot report received telemetry, retrying';
  for (let readAt = -Infinity; !signal.aborted; await pause(AWAITING_MS, signal)) {
    if (!senders.isAnyAwaited && performance.now() < readAt + IDLE_MS) continue;
    readAt = performance.now();
    senders.hear(parseCounts(await readCounts(config.telemetryCountsPort)));
    if (senders.pending().length === 0) continue;
    // An injection may end before a retry.
    const report = async () => senders.reported(await list.add(senders.pending()));
    await retrying(report, { signal, logger, failure });
    await pause(REPORTED_MS, signal);
  }
}

/** Returns no text while the collector reloads, or if the page is too long. */
const readCounts = (port: number): Promise<string> =>
  getLocal({ port, path: '/metrics' })
    .then((page) => text(upToLimit(page)))
    .catch(() => '');

/** Finds uids that two looks, a minute apart, do not know. One look is not enough, because a watch may be late. */
export class UnknownUids {
  private unknown: ReadonlySet<string> = new Set();
  private nextAt = -Infinity;

  /** @param getKnown called once a minute, because it reads all workloads. @param now milliseconds of a monotonic clock */
  look(received: ReadonlySet<string>, getKnown: () => ReadonlySet<string>, now: number): readonly string[] {
    if (now < this.nextAt) return [];
    const before = this.unknown;
    const known = getKnown();
    this.nextAt = now + MINUTE_MS;
    this.unknown = new Set([...received].filter((uid) => !known.has(uid)));
    return [...this.unknown].filter((uid) => before.has(uid));
  }
}

/** Follows on the leader what the replicas report, and removes workloads that are no longer instrumented. */
export async function followReceived(
  { config, transport, logger, senders }: ReceivedOptions,
  term: LeadingContext,
  onReceived: (uids: ReadonlySet<string>) => void,
): Promise<void> {
  const { signal } = term;
  const list = receivedList(termClient(transport, term), config);
  const changes = watchChanges([list.ref], { transport, logger, signal });
  const failure = 'cannot read which workloads sent telemetry, retrying';
  const notRemoved = (error: unknown) => logger.debug({ problem: describeError(error) }, 'cannot remove ended senders');
  const unknown = new UnknownUids();
  let received: ReadonlySet<string> = new Set();
  const getKnown = () => senders.uids() ?? received;
  for (let isChanged = true; !signal.aborted; isChanged = await changes.wait(POLL_MS, signal)) {
    if (isChanged) received = (await retrying(() => list.read(), { signal, logger, failure })) ?? received;
    if (signal.aborted) return;
    if (isChanged) onReceived(received);
    const ended = [...received].filter((uid) => senders.hasJustEnded(uid));
    const gone = [...ended, ...unknown.look(received, getKnown, performance.now())];
    if (gone.length > 0) await list.remove(gone).catch(notRemoved);
  }
}

/** Returns the uids that the list lacks and has room for. */
export const selectNew = (uids: readonly string[], listed: ReadonlySet<string>): readonly string[] =>
  uids.filter((uid) => !listed.has(uid)).slice(0, Math.max(0, maxReceived.inAll - listed.size));

const toEntries = <T>(uids: readonly string[], value: T) => Object.fromEntries(uids.map((uid) => [uid, value]));

/** A ConfigMap with the uids of the workloads that any replica received telemetry from (docs/contributing/adr/0044). */
function receivedList(client: Client, config: RuntimeConfig) {
  const { ref, read, write } = configMapRecord({
    client,
    namespace: config.operatorNamespace,
    name: `${config.operatorName}${suffixes.received}`,
    metadata: () => ownMetadata(client, config),
  });
  const readUids = async (): Promise<ReadonlySet<string>> => new Set(Object.keys(await read()));
  return {
    ref,
    read: readUids,
    /** Returns those of the uids that are listed now. */
    async add(uids: readonly string[]): Promise<readonly string[]> {
      const listed = await readUids();
      const added = selectNew(uids, listed);
      if (added.length > 0) await write(toEntries(added, ''));
      const all = new Set([...listed, ...added]);
      return uids.filter((uid) => all.has(uid));
    },
    remove: (uids: readonly string[]) => write(toEntries(uids, null)),
  };
}

import type { Logger } from 'pino';
import { retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { watchChanges } from '../kubernetes/watch/watches.ts';
import type { InstrumentedSenders } from './instrumented-senders.ts';
import { receivedList, getReceivedListRef } from './received-list.ts';

interface FollowOptions {
  readonly config: RuntimeConfig;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly senders: Pick<InstrumentedSenders, 'uids'>;
  readonly onReceived: (uids: ReadonlySet<string>) => void;
}

const MINUTE_MS = 60_000;

/** Follows on the leader what the replicas report, and removes workloads that are no longer instrumented. */
export async function followReceived(options: FollowOptions, term: LeadingContext): Promise<void> {
  const { config, transport, logger, senders, onReceived } = options;
  const { signal } = term;
  const list = receivedList(termClient(transport, term), config);
  const changes = watchChanges([getReceivedListRef(config)], { transport, logger, signal });
  const failure = 'cannot read which workloads sent telemetry, retrying';
  let received: ReadonlySet<string> = new Set();
  let unknown: ReadonlySet<string> = new Set();
  for (let isChanged = true; !signal.aborted; isChanged = await changes.wait(MINUTE_MS, signal)) {
    if (isChanged) {
      received = (await retrying(() => list.read(), { signal, logger, failure })) ?? received;
      if (!signal.aborted) onReceived(received);
      continue;
    }
    const known = senders.uids() ?? received;
    const [before, now] = [unknown, new Set([...received].filter((uid) => !known.has(uid)))];
    // The watch of workloads may be late, so a uid is removed when it is unknown for the second time.
    unknown = now;
    const gone = [...now].filter((uid) => before.has(uid));
    if (gone.length > 0) await list.remove(gone).catch(() => undefined);
  }
}

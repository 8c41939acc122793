import type { Logger } from 'pino';
import { retrying } from '../async/retrying.ts';
import type { RuntimeConfig } from '../config/config.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { watchChanges } from '../kubernetes/watch/watches.ts';
import type { InstrumentedSenders } from './instrumented-senders.ts';
import { receivedList } from './received-list.ts';

interface FollowOptions {
  readonly config: RuntimeConfig;
  readonly transport: Transport;
  readonly logger: Logger;
  readonly senders: Pick<InstrumentedSenders, 'uids' | 'hasJustEnded'>;
  readonly onReceived: (uids: ReadonlySet<string>) => void;
}

const MINUTE_MS = 60_000;
const POLL_MS = 1_000;

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
export async function followReceived(options: FollowOptions, term: LeadingContext): Promise<void> {
  const { config, transport, logger, senders, onReceived } = options;
  const { signal } = term;
  const list = receivedList(termClient(transport, term), config);
  const changes = watchChanges([list.ref], { transport, logger, signal });
  const failure = 'cannot read which workloads sent telemetry, retrying';
  const unknown = new UnknownUids();
  let received: ReadonlySet<string> = new Set();
  const getKnown = () => senders.uids() ?? received;
  for (let isChanged = true; !signal.aborted; isChanged = await changes.wait(POLL_MS, signal)) {
    if (isChanged) received = (await retrying(() => list.read(), { signal, logger, failure })) ?? received;
    if (signal.aborted) return;
    if (isChanged) onReceived(received);
    const ended = [...received].filter((uid) => senders.hasJustEnded(uid));
    const gone = [...ended, ...unknown.look(received, getKnown, performance.now())];
    if (gone.length > 0) await list.remove(gone).catch(() => undefined);
  }
}

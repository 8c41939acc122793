import { ConnectionError } from '../http/errors.ts';
import { metadataType } from '../resources/objects.ts';
import type { Transport } from '../http/transport.ts';
import type { WatchPosition } from './watch-position.ts';

export interface WatchOptions {
  readonly transport: Transport;
  readonly metadataOnly?: boolean | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly signal: AbortSignal;
  /** The server ends a watch after one to two times this, which spreads clients over its replicas. Default 900. */
  readonly streamSeconds?: number | undefined;
  /** A watch without data for this time is dead. Default 3 minutes: the server sends a bookmark about once a minute. */
  readonly watchdogMs?: number | undefined;
  readonly onHeard?: (() => void) | undefined;
}

interface WatchOnceOptions extends WatchOptions {
  readonly subject: string;
  readonly position: WatchPosition;
  readonly onOpen: () => void;
}

export class SilenceError extends ConnectionError {}

/** A streamed list always has data to send. Silence means that the server does not know streamed lists. */
const listSilenceMs = 15_000;

/**
 * Watches from the position's version on. While it is listing, the server streams a list first.
 * @throws the errors of Transport.stream, an ERROR event's ApiError, and SilenceError
 */
export async function watchOnce(options: WatchOnceOptions): Promise<void> {
  const { transport, subject, position, metadataOnly, streamSeconds = 900, labelSelector, fieldSelector } = options;
  const watchdog = createWatchdog(options);
  const from = position.listing
    ? { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' }
    : { resourceVersion: position.version };
  try {
    await transport.stream({
      path: subject,
      accept: metadataOnly === true ? metadataType : undefined,
      query: {
        watch: true,
        allowWatchBookmarks: true,
        timeoutSeconds: Math.round(streamSeconds * (1 + Math.random())),
        labelSelector,
        fieldSelector,
        ...from,
      },
      signal: watchdog.signal,
      onOpen: options.onOpen,
      onValue: (line) => {
        position.receive(line);
        watchdog.heard();
        options.onHeard?.();
      },
      onSkipped: watchdog.heard,
    });
  } finally {
    watchdog.release();
  }
}

function createWatchdog({ subject, position, signal, watchdogMs = 180_000 }: WatchOnceOptions) {
  const silence = new AbortController();
  const onSilence = (): void =>
    silence.abort(new SilenceError(`The watch of ${subject} received no data in time.`, 'SILENT'));
  let timer: NodeJS.Timeout | undefined;
  const release = (): void => clearTimeout(timer);
  const heard = (): void => {
    release();
    timer = setTimeout(onSilence, position.listing ? Math.min(listSilenceMs, watchdogMs) : watchdogMs);
  };
  heard();
  return { signal: AbortSignal.any([signal, silence.signal]), heard, release };
}

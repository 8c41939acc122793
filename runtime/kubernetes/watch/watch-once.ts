import { ConnectionError } from '../http/errors.ts';
import { metadataType } from '../resources/objects.ts';
import type { Transport } from '../http/transport.ts';
import type { WatchPosition } from './watch-position.ts';

/** What is watched, and for how long a stream may last or be silent. */
export interface WatchOptions {
  readonly transport: Transport;
  readonly metadataOnly?: boolean | undefined;
  readonly labelSelector?: string | undefined;
  readonly fieldSelector?: string | undefined;
  readonly signal: AbortSignal;
  /** The server is asked to end a watch after this long, and up to twice as long, so that clients spread over its replicas. Default 900. */
  readonly streamSeconds?: number | undefined;
  /** A watch that is silent for so long is dead. Default 3 minutes: the server sends a bookmark about once a minute. */
  readonly watchdogMs?: number | undefined;
  /** Told of each sign of life: a change, or a bookmark. */
  readonly onHeard?: (() => void) | undefined;
}

interface WatchOnceOptions extends WatchOptions {
  /** The collection's path. */
  readonly subject: string;
  readonly position: WatchPosition;
  readonly onOpen: () => void;
}

/** The connection stands, and nothing comes over it. */
export class SilenceError extends ConnectionError {}

/** While a list is streamed there is always something to send; silence means a server that does not know how. */
const listSilenceMs = 15_000;

/**
 * One watch, from the position's version on, or with a list streamed before it while the position is listing. Returns
 * when the server ends it; throws what Transport.stream throws, an ERROR event's ApiError, or a SilenceError.
 */
export async function watchOnce(options: WatchOnceOptions): Promise<void> {
  const { transport, subject, position, metadataOnly, streamSeconds = 900 } = options;
  const { labelSelector, fieldSelector } = options;
  const watchdog = watchdogOf(options);
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

/** Aborts its signal when the caller's is aborted, or when nothing was heard for too long. */
function watchdogOf({ subject, position, signal, watchdogMs = 180_000 }: WatchOnceOptions) {
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

import type { Logger } from 'pino';
import { Debounce } from '../../async/debounce.ts';
import { Kept } from './kept.ts';
import { listWatch } from './list-watch.ts';
import type { ResourceRef } from '../http/paths.ts';
import type { Transport } from '../http/transport.ts';

export interface Watching {
  readonly transport: Transport;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** What is seen together is looked at once. */
const pause = { quietMs: 20, atMostMs: 100 };

/**
 * Tells, until the signal is aborted, when one of these objects appears, changes or goes; whoever waits reads what it needs. While
 * nothing happens that costs no request. A role may grant it by `resourceNames`: the API server knows a name in a field selector.
 */
export function changesOf(
  objects: readonly (ResourceRef & { readonly name: string })[],
  { transport, logger, signal }: Watching,
): Debounce {
  const changes = new Debounce(pause);
  for (const { name, ...resource } of objects)
    listWatch({
      // Nothing else of whoever asks: a selector of theirs would choose among these objects too.
      ...{ transport, logger, signal },
      resource,
      fieldSelector: `metadata.name=${name}`,
      metadataOnly: true,
      handler: new Kept(
        () => true,
        () => changes.touch(),
      ),
    });
  return changes;
}

import type { Logger } from 'pino';
import { Debounce } from '../../async/debounce.ts';
import type { ResourceRef } from '../http/paths.ts';
import type { Transport } from '../http/transport.ts';
import { kinds } from '../resources/kinds.ts';
import { Kept } from './kept.ts';
import { listWatch, type ListWatch, type ListWatchHandler, type ListWatchOptions } from './list-watch.ts';

export interface Watching {
  readonly transport: Transport;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export type NamedRef = ResourceRef & { readonly name: string };

/** A list-watch of one object. A role may grant it by `resourceNames`: the API server knows a name in a field selector. */
export const watchNamed = (
  { name, ...resource }: NamedRef,
  handler: ListWatchHandler,
  // Nothing else of whoever asks: a selector of theirs would choose among these objects too.
  { transport, logger, signal }: Watching,
): ListWatch =>
  listWatch({
    ...{ transport, logger, signal, resource, handler },
    metadataOnly: true,
    fieldSelector: `metadata.name=${name}`,
  });

/** What is seen together is looked at once. */
const pause = { quietMs: 20, atMostMs: 100 };

/**
 * Tells, until the signal is aborted, when one of these objects appears, changes or goes; whoever waits reads what it needs. While
 * nothing happens that costs no request.
 */
export function changesOf(objects: readonly NamedRef[], watching: Watching): Debounce {
  const changes = new Debounce(pause);
  const touch = () => changes.touch();
  for (const object of objects) watchNamed(object, new Kept(() => true, touch), watching);
  return changes;
}

/** A list-watch of a kind, whether it is one of the API server's own or its definition may be absent, come and go: that is heard of. */
export function watchKind(
  kind: ResourceRef,
  options: Omit<ListWatchOptions, 'resource' | 'definition'> & Watching,
): ListWatch {
  const { group, plural, addOn } = kind;
  const definition = { ...kinds.customResourceDefinitions, name: `${plural}.${group}` };
  return listWatch({
    ...options,
    resource: kind,
    definition: addOn === undefined ? undefined : changesOf([definition], options),
  });
}

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

/** Watches one object. A role can grant it by `resourceNames`, because the field selector has the name. */
export const watchNamed = (
  { name, ...resource }: NamedRef,
  handler: ListWatchHandler,
  // The caller's other options are not passed on: its selectors would apply to this object too.
  { transport, logger, signal }: Watching,
): ListWatch =>
  listWatch({
    ...{ transport, logger, signal, resource, handler },
    metadataOnly: true,
    fieldSelector: `metadata.name=${name}`,
  });

const pause = { quietMs: 20, atMostMs: 100 };

/** Returns a signal of each creation, change and deletion of these objects. While idle it costs no request. */
export function watchChanges(objects: readonly NamedRef[], watching: Watching): Debounce {
  const changes = new Debounce(pause);
  const touch = () => changes.touch();
  for (const object of objects) watchNamed(object, new Kept(() => true, touch), watching);
  return changes;
}

/** Watches a kind. If its definition may be absent, watches the definition too. */
export function watchKind(
  kind: ResourceRef,
  options: Omit<ListWatchOptions, 'resource' | 'definition'> & Watching,
): ListWatch {
  const { group, plural, addOn } = kind;
  const definition = { ...kinds.customResourceDefinitions, name: `${plural}.${group}` };
  return listWatch({
    ...options,
    resource: kind,
    definition: addOn === undefined ? undefined : watchChanges([definition], options),
  });
}

import type { Logger } from 'pino';
import { Debounce } from '../../async/debounce.ts';
import type { ResourceRef } from '../http/paths.ts';
import type { Transport } from '../http/transport.ts';
import { kinds } from '../resources/kinds.ts';
import { Kept } from './kept.ts';
import { listWatch, type ListWatch, type ListWatchOptions } from './list-watch.ts';

export interface Watching {
  readonly transport: Transport;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export type NamedRef = ResourceRef & { readonly name: string };

const pause = { quietMs: 20, atMostMs: 100 };

/**
 * Returns a signal of each creation, change and deletion of these objects. While idle it costs no request. A role can
 * grant it by `resourceNames`, because the field selector has the name.
 */
export function watchChanges(objects: readonly NamedRef[], { transport, logger, signal }: Watching): Debounce {
  const changes = new Debounce(pause);
  // The caller's other options are not passed on: its selectors would apply to these objects too.
  const watching = { transport, logger, signal, metadataOnly: true };
  for (const { name, ...resource } of objects) {
    const handler = new Kept(() => true, changes.touch);
    listWatch({ ...watching, resource, handler, fieldSelector: `metadata.name=${name}` });
  }
  return changes;
}

/** Watches a kind. If its definition may be absent, watches the definition too. */
export function watchKind(
  kind: ResourceRef,
  options: Omit<ListWatchOptions, 'resource' | 'definition'> & Watching,
): ListWatch {
  const { group, plural, addOn } = kind;
  const definition = { ...kinds.customResourceDefinitions, name: `${plural}.${group}` };
  const changes = addOn === undefined ? undefined : watchChanges([definition], options);
  return listWatch({ ...options, resource: kind, definition: changes });
}

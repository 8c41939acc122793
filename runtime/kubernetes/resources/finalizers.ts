import type { Metadata } from '../../api/objects.ts';
import { guarded, type Client, readAndChange } from '../http/client.ts';
import { undefinedIfNotFound } from '../http/errors.ts';
import type { ResourceRef } from '../http/paths.ts';

/** The metadata of one object; undefined where it is not there. */
export const readMetadata = async (client: Client, ref: ResourceRef): Promise<Metadata | undefined> =>
  (await client.find(ref, { metadataOnly: true }))?.metadata;

/** Sees to it that an object has a finalizer, last of all. It must not be on its way out. */
export const addFinalizer = (client: Client, ref: ResourceRef, seen: Metadata, finalizer: string): Promise<void> =>
  change(client, ref, seen, (present) => [...without(present, finalizer), finalizer]);

/** Sees to it that an object has not. */
export const removeFinalizer = (client: Client, ref: ResourceRef, seen: Metadata, finalizer: string): Promise<void> =>
  change(client, ref, seen, (present) => without(present, finalizer));

/**
 * The same, for as long as the object is what was seen.
 * @throws a Conflict where it is not
 */
export const removeFinalizerAsSeen = (
  client: Client,
  ref: ResourceRef,
  seen: Metadata,
  finalizer: string,
): Promise<void> => write(client, ref, seen, (present) => without(present, finalizer)).catch(undefinedIfNotFound);

type Wanted = (present: readonly string[]) => readonly string[];

const without = (present: readonly string[], finalizer: string): readonly string[] =>
  present.filter((each) => each !== finalizer);

/** Writes what `wanted` makes of the finalizers, if that is anything else; one that is gone meanwhile is no problem. */
async function change(client: Client, ref: ResourceRef, seen: Metadata, wanted: Wanted): Promise<void> {
  const read = async () => (await client.get(ref, { metadataOnly: true })).metadata as Metadata;
  await readAndChange(seen, read, (found) => write(client, ref, found, wanted));
}

async function write(
  client: Client,
  ref: ResourceRef,
  { finalizers = [], resourceVersion = '' }: Metadata,
  wanted: Wanted,
): Promise<void> {
  const value = wanted(finalizers);
  if (value.join() === finalizers.join()) return;
  const patch = guarded(resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]);
  await client.patch(ref, patch, { metadataOnly: true });
}

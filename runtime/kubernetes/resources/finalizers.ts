import type { Metadata } from '../../api/objects.ts';
import { guarded, type Client, readAndChange } from '../http/client.ts';
import { undefinedIfNotFound } from '../http/errors.ts';
import type { ResourceRef } from '../http/paths.ts';

export const readMetadata = async (client: Client, ref: ResourceRef): Promise<Metadata | undefined> =>
  (await client.find(ref, { metadataOnly: true }))?.metadata;

/** Adds the finalizer at the end. The object must not be in deletion. */
export const addFinalizer = (client: Client, ref: ResourceRef, seen: Metadata, finalizer: string): Promise<void> =>
  change(client, ref, seen, (present) => [...without(present, finalizer), finalizer]);

export const removeFinalizer = (client: Client, ref: ResourceRef, seen: Seen, finalizer: string): Promise<void> =>
  change(client, ref, seen, (present) => without(present, finalizer));

/** Throws a Conflict if the object changed since it was seen. */
export const removeFinalizerAsSeen = (
  client: Client,
  ref: ResourceRef,
  seen: Metadata,
  finalizer: string,
): Promise<void> => write(client, ref, seen, (present) => without(present, finalizer)).catch(undefinedIfNotFound);

type Seen = Metadata | undefined;
type Wanted = (present: readonly string[]) => readonly string[];

const without = (present: readonly string[], finalizer: string): readonly string[] =>
  present.filter((each) => each !== finalizer);

async function change(client: Client, ref: ResourceRef, seen: Seen, wanted: Wanted): Promise<void> {
  const read = async () => (await client.get(ref, { metadataOnly: true })).metadata as Metadata;
  await readAndChange(seen, read, (found) => write(client, ref, found, wanted));
}

async function write(client: Client, ref: ResourceRef, seen: Metadata, wanted: Wanted): Promise<void> {
  const { finalizers = [], resourceVersion = '' } = seen;
  const value = wanted(finalizers);
  if (value.join() === finalizers.join()) return;
  const patch = guarded(resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]);
  await client.patch(ref, patch, { metadataOnly: true });
}

import type { Metadata } from '../../injection/types.ts';
import { guarded, type Client } from '../http/client.ts';
import { readAndChange } from '../http/on-conflict.ts';
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

const without = (present: readonly string[], finalizer: string): readonly string[] =>
  present.filter((each) => each !== finalizer);

/** Writes what `wanted` makes of the finalizers, if that is anything else; one that is gone meanwhile is no problem. */
async function change(
  client: Client,
  ref: ResourceRef,
  seen: Metadata,
  wanted: (present: readonly string[]) => readonly string[],
): Promise<void> {
  const read = async () => (await client.get(ref, { metadataOnly: true })).metadata as Metadata;
  await readAndChange(seen, read, async ({ finalizers = [], resourceVersion = '' }) => {
    const value = wanted(finalizers);
    if (value.join() === finalizers.join()) return;
    const patch = guarded(resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]);
    await client.patch(ref, patch, { metadataOnly: true });
  });
}

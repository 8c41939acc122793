import type { PatchOperation } from '../../api/objects.ts';
import { fieldManager } from '../../contract.ts';
import { guarded, readAndChange, type Client, type Patch } from '../http/client.ts';
import type { ResourceRef } from '../http/paths.ts';
import type { KubernetesObject, ObjectMeta } from './objects.ts';

/**
 * Patches an object, and then removes the operator from the owners of its fields. Otherwise the next server-side apply
 * by its user would conflict with the operator. Returns the object as it was stored after this write.
 */
export async function patchAndDisown(client: Client, ref: ResourceRef, patch: Patch): Promise<KubernetesObject> {
  const { object: stored } = await client.patch(ref, patch, { fieldManager });
  const { metadata } = stored;
  const disown = async (found: ObjectMeta): Promise<ObjectMeta> => {
    const operations = getRemovals(found);
    if (operations.length === 0) return metadata;
    const options = { fieldManager, metadataOnly: true };
    const { object } = await client.patch(ref, guarded(found.resourceVersion, operations), options);
    // After a conflict, the object has changes of others, about which the operator has not decided.
    return found === metadata ? object.metadata : metadata;
  };
  const read = async () => (await client.get(ref, { metadataOnly: true })).metadata;
  // The next write repeats what fails.
  const disowned = await readAndChange(metadata, read, disown).catch(() => undefined);
  return { ...stored, metadata: disowned ?? metadata };
}

/** Only server-side apply asks who owns a field. The last entry is removed first, because the others move. */
function getRemovals({ managedFields = [] }: ObjectMeta): PatchOperation[] {
  const removals: PatchOperation[] = [];
  if (managedFields.every(({ operation }) => operation !== 'Apply')) return removals;
  for (const [index, { manager }] of managedFields.entries())
    if (manager === fieldManager) removals.unshift({ op: 'remove', path: `/metadata/managedFields/${index}` });
  return removals;
}

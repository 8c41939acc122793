import type { Metadata } from '../../api/objects.ts';
import type { Client } from '../http/client.ts';
import { undefinedIfNotFound } from '../http/errors.ts';
import { kinds } from './kinds.ts';
import { toData } from './objects.ts';

interface RecordOptions {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  /** Labels, annotations and owners of a new one. */
  readonly metadata: () => Promise<Metadata>;
}

/** An entry that is null is removed. */
type Changes = Readonly<Record<string, string | null>>;

/** A ConfigMap that outlives the leader. It does not exist before the first write. */
export function configMapRecord({ client, namespace, name, metadata }: RecordOptions) {
  const ref = { ...kinds.configMaps, namespace, name };
  const merge = (body: object) =>
    client.patch(ref, { kind: 'merge', body }, { metadataOnly: true }).catch(undefinedIfNotFound);
  return {
    ref,
    /** Kubernetes removes an owner that is deleted from the list, and the record with the last one. */
    renewOwners: async () => merge({ metadata: { ownerReferences: (await metadata()).ownerReferences } }),
    async read(): Promise<Readonly<Record<string, string>>> {
      const found = await client.find(ref);
      return found === undefined ? {} : toData(found);
    },
    /** `whole`: the entries of a new ConfigMap, if it is missing. Returns them without those that are null. */
    async write(changes: Changes, whole = changes) {
      const kept = Object.entries(whole).filter((entry): entry is [string, string] => entry[1] !== null);
      const data = Object.fromEntries(kept);
      if ((await merge({ data: changes })) !== undefined) return data;
      const own = { ...(await metadata()), namespace, name };
      const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: own, data };
      await client.create({ ...kinds.configMaps, namespace }, manifest);
      return data;
    },
  };
}

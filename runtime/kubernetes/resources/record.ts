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
  return {
    ref,
    async read(): Promise<Readonly<Record<string, string>>> {
      const found = await client.find(ref);
      return found === undefined ? {} : toData(found);
    },
    /** `whole`: the entries of a new ConfigMap, if it is missing. */
    async write(changes: Changes, whole = changes): Promise<void> {
      const patch = { kind: 'merge', body: { data: changes } } as const;
      const patched = await client.patch(ref, patch, { metadataOnly: true }).catch(undefinedIfNotFound);
      if (patched !== undefined) return;
      const data = Object.fromEntries(Object.entries(whole).filter(([, value]) => value !== null));
      const manifest = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        data,
        metadata: { ...(await metadata()), namespace, name },
      };
      await client.create({ ...kinds.configMaps, namespace }, manifest);
    },
  };
}

import { suffixes } from '../contract.ts';
import { ownMetadata, type Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { toData } from '../kubernetes/resources/objects.ts';

export const getReceivedListRef = ({ operatorName, operatorNamespace }: Installed) => ({
  ...kinds.configMaps,
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.received}`,
});

type Uids = Iterable<string>;

/** A ConfigMap with the uids of the workloads that any replica received telemetry from (docs/contributing/adr/0044). */
export function receivedList(client: Client, installed: Installed) {
  const ref = getReceivedListRef(installed);
  const write = async (uids: Uids, value: '' | null): Promise<void> => {
    const data = Object.fromEntries([...uids].map((uid) => [uid, value]));
    await client.patch(ref, { kind: 'merge', body: { data } });
  };
  return {
    /** Creates it if it is missing. */
    async read(): Promise<ReadonlySet<string>> {
      const found = await client.find(ref);
      if (found !== undefined) return new Set(Object.keys(toData(found)));
      const { name, namespace } = ref;
      const metadata = { name, namespace, ...(await ownMetadata(client, installed)) };
      await client.create({ ...kinds.configMaps, namespace }, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
      return new Set();
    },
    add: (uids: Uids) => write(uids, ''),
    remove: (uids: Uids) => write(uids, null),
  };
}

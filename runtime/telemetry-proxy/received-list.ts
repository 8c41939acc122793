import { maxReceived, suffixes } from '../contract.ts';
import { ownMetadata, type Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { toData } from '../kubernetes/resources/objects.ts';

export const getReceivedListRef = ({ operatorName, operatorNamespace }: Installed) => ({
  ...kinds.configMaps,
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.received}`,
});

/** Returns the uids that the list lacks and has room for. */
export const selectNew = (uids: readonly string[], listed: ReadonlySet<string>): readonly string[] =>
  uids.filter((uid) => !listed.has(uid)).slice(0, Math.max(0, maxReceived.inAll - listed.size));

/** A ConfigMap with the uids of the workloads that any replica received telemetry from (docs/contributing/adr/0044). */
export function receivedList(client: Client, installed: Installed) {
  const ref = getReceivedListRef(installed);
  const write = async (uids: readonly string[], value: '' | null): Promise<void> => {
    const data = Object.fromEntries(uids.map((uid) => [uid, value]));
    await client.patch(ref, { kind: 'merge', body: { data } });
  };
  /** Creates it if it is missing. */
  const read = async (): Promise<ReadonlySet<string>> => {
    const found = await client.find(ref);
    if (found !== undefined) return new Set(Object.keys(toData(found)));
    const { name, namespace } = ref;
    const metadata = { name, namespace, ...(await ownMetadata(client, installed)) };
    await client.create({ ...kinds.configMaps, namespace }, { apiVersion: 'v1', kind: 'ConfigMap', metadata });
    return new Set();
  };
  return {
    read,
    /** Returns those of the uids that are listed now. */
    async add(uids: readonly string[]): Promise<readonly string[]> {
      const listed = await read();
      const added = selectNew(uids, listed);
      if (added.length > 0) await write(added, '');
      const all = new Set([...listed, ...added]);
      return uids.filter((uid) => all.has(uid));
    },
    remove: (uids: readonly string[]) => write(uids, null),
  };
}

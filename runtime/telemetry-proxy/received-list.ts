import { maxReceived, suffixes } from '../contract.ts';
import { ownMetadata, type Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { configMapRecord } from '../kubernetes/resources/record.ts';

/** Returns the uids that the list lacks and has room for. */
export const selectNew = (uids: readonly string[], listed: ReadonlySet<string>): readonly string[] =>
  uids.filter((uid) => !listed.has(uid)).slice(0, Math.max(0, maxReceived.inAll - listed.size));

const toEntries = <T>(uids: readonly string[], value: T) => Object.fromEntries(uids.map((uid) => [uid, value]));

/** A ConfigMap with the uids of the workloads that any replica received telemetry from (docs/contributing/adr/0044). */
export function receivedList(client: Client, installed: Installed) {
  const { ref, read, write } = configMapRecord({
    client,
    namespace: installed.operatorNamespace,
    name: `${installed.operatorName}${suffixes.received}`,
    metadata: () => ownMetadata(client, installed),
  });
  const readUids = async (): Promise<ReadonlySet<string>> => new Set(Object.keys(await read()));
  return {
    ref,
    read: readUids,
    /** Returns those of the uids that are listed now. */
    async add(uids: readonly string[]): Promise<readonly string[]> {
      const listed = await readUids();
      const added = selectNew(uids, listed);
      if (added.length > 0) await write(toEntries(added, ''));
      const all = new Set([...listed, ...added]);
      return uids.filter((uid) => all.has(uid));
    },
    remove: (uids: readonly string[]) => write(toEntries(uids, null)),
  };
}

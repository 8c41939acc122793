import { suffixes } from '../contract.ts';
import { getManagerRole, ownMetadata, type Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { configMapRecord } from '../kubernetes/resources/record.ts';

export type Marks = Awaited<ReturnType<typeof readMarks>>;

/** A ConfigMap keeps what each namespace got, by its uid, across leaders. Only the leader writes it. */
export async function readMarks(client: Client, installed: Installed) {
  /** The decisions of teams outlive each of the owners, which a repair may delete and create again. */
  const metadata = async () => {
    const own = await ownMetadata(client, installed);
    const role = await client.find(getManagerRole(installed), { metadataOnly: true });
    // The Operator Lifecycle Manager may give it another name.
    if (role === undefined) return own;
    const { name, uid } = role.metadata;
    const owner = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name, uid };
    return { ...own, ownerReferences: [...own.ownerReferences, owner] };
  };
  const record = configMapRecord({
    client,
    namespace: installed.operatorNamespace,
    name: `${installed.operatorName}${suffixes.monitored}`,
    metadata,
  });
  let known = await record.read();
  /** Each write stores the whole ConfigMap in etcd again, so pass many marks. A mark that is null is removed. */
  const set = async (marks: readonly (readonly [uid: string, mark: string | null])[]): Promise<void> => {
    if (marks.length === 0) return;
    const changes = Object.fromEntries(marks);
    // The ConfigMap may have been deleted during the term, so a new one gets all marks.
    known = await record.write(changes, { ...known, ...changes });
  };
  return {
    set,
    renewOwners: record.renewOwners,
    get: (uid: string): string | undefined => known[uid],
    keepOnly: (existing: ReadonlySet<string>): Promise<void> =>
      set(Object.keys(known).flatMap((uid) => (existing.has(uid) ? [] : [[uid, null]]))),
  };
}

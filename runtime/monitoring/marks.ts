import { suffixes } from '../contract.ts';
import { ownMetadata, type Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { configMapRecord } from '../kubernetes/resources/record.ts';

export type Marks = Awaited<ReturnType<typeof readMarks>>;

/** A ConfigMap keeps what each namespace got, by its uid, across leaders. Only the leader writes it. */
export async function readMarks(client: Client, installed: Installed) {
  const record = configMapRecord({
    ...{ client, namespace: installed.operatorNamespace, name: `${installed.operatorName}${suffixes.monitored}` },
    metadata: () => ownMetadata(client, installed),
  });
  const known = new Map(Object.entries(await record.read()));
  // The ConfigMap may have been deleted during the term, so a new one gets all marks.
  const write = (changes: Readonly<Record<string, string | null>>) =>
    record.write(changes, { ...Object.fromEntries(known), ...changes });
  return {
    get: (uid: string): string | undefined => known.get(uid),
    async set(uid: string, mark: string): Promise<void> {
      await write({ [uid]: mark });
      known.set(uid, mark);
    },
    async keepOnly(existing: ReadonlySet<string>): Promise<void> {
      const gone = [...known.keys()].filter((uid) => !existing.has(uid));
      if (gone.length === 0) return;
      await write(Object.fromEntries(gone.map((uid) => [uid, null])));
      for (const uid of gone) known.delete(uid);
    },
  };
}

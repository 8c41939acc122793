import { ownMetadata, type Installed } from '../installation/installation.ts';
import { suffixes } from '../contract.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { isNotFound } from '../kubernetes/http/errors.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import { toData } from '../kubernetes/resources/objects.ts';

/** A ConfigMap keeps the flags that each namespace got, by its uid, across leaders. Only the leader writes it. */
export class Marks {
  private constructor(
    private readonly client: Client,
    private readonly installed: Installed,
    private readonly known: Map<string, string>,
  ) {}

  static async read(client: Client, installed: Installed): Promise<Marks> {
    const found = await client.find(toRef(installed));
    return new Marks(client, installed, new Map(found === undefined ? [] : Object.entries(toData(found))));
  }

  get(uid: string): string | undefined {
    return this.known.get(uid);
  }

  async set(uid: string, flags: string): Promise<void> {
    await this.write({ [uid]: flags });
    this.known.set(uid, flags);
  }

  async keepOnly(existing: ReadonlySet<string>): Promise<void> {
    const gone = [...this.known.keys()].filter((uid) => !existing.has(uid));
    if (gone.length === 0) return;
    await this.write(Object.fromEntries(gone.map((uid) => [uid, null])));
    for (const uid of gone) this.known.delete(uid);
  }

  private async write(data: Readonly<Record<string, string | null>>): Promise<void> {
    const { client, installed } = this;
    const ref = toRef(installed);
    await client.patch(ref, { kind: 'merge', body: { data } }).catch(async (error: unknown) => {
      if (!isNotFound(error)) throw error;
      const { name, namespace } = ref;
      const metadata = { name, namespace, ...(await ownMetadata(client, installed)) };
      // The ConfigMap may have been deleted during the term, so the new one gets all marks.
      const all = { ...Object.fromEntries(this.known), ...data };
      const kept = Object.fromEntries(Object.entries(all).filter(([, flags]) => flags !== null));
      await client.create(
        { ...kinds.configMaps, namespace },
        { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: kept },
      );
    });
  }
}

const toRef = ({ operatorName, operatorNamespace }: Installed) => ({
  ...kinds.configMaps,
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.monitored}`,
});

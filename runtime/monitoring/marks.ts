import { suffixes } from '../contract.ts';
import { ownMetadata, type Installed } from '../installation/installation.ts';
import type { Client } from '../kubernetes/http/client.ts';
import { configMapRecord } from '../kubernetes/resources/record.ts';

/** A ConfigMap keeps the flags that each namespace got, by its uid, across leaders. Only the leader writes it. */
export class Marks {
  private constructor(
    private readonly record: ReturnType<typeof configMapRecord>,
    private readonly known: Map<string, string>,
  ) {}

  static async read(client: Client, installed: Installed): Promise<Marks> {
    const record = configMapRecord({
      ...{ client, namespace: installed.operatorNamespace, name: `${installed.operatorName}${suffixes.monitored}` },
      metadata: () => ownMetadata(client, installed),
    });
    return new Marks(record, new Map(Object.entries(await record.read())));
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

  /** The ConfigMap may have been deleted during the term, so a new one gets all marks. */
  private write(changes: Readonly<Record<string, string | null>>): Promise<void> {
    return this.record.write(changes, { ...Object.fromEntries(this.known), ...changes });
  }
}

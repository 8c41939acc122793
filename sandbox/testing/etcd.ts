export type Etcd = ReturnType<typeof etcdAt>;

export interface StoredObject {
  /** e.g. `/registry/configmaps/shop/a` */
  readonly key: string;
  readonly object: unknown;
}

/** Operations that etcd takes in one transaction. */
const transactionSize = 128;

/** The HTTP gateway of the etcd at `url`, e.g. `http://127.0.0.1:2379`, for what no client of the API server can bring about. */
export function etcdAt(url: string) {
  const call = async (path: string, body: object): Promise<{ header: { revision: string } }> => {
    const answer = await fetch(`${url}/v3/kv/${path}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`etcd answered ${path} with ${answer.status}: ${await answer.text()}`);
    return (await answer.json()) as { header: { revision: string } };
  };
  return {
    /** Forgets everything but the present, as the API server makes it do every five minutes. */
    async compact(): Promise<void> {
      const { header } = await call('range', { key: encode('/') });
      await call('compaction', { revision: header.revision, physical: true });
    },
    /** Stores objects behind the API server's back, thousands a second; it sees them as it sees any other replica's writes. */
    async store(objects: readonly StoredObject[]): Promise<void> {
      for (let start = 0; start < objects.length; start += transactionSize)
        await call('txn', { success: objects.slice(start, start + transactionSize).map(putOf) });
    },
  };
}

const encode = (text: string): string => Buffer.from(text).toString('base64');

const putOf = ({ key, object }: StoredObject) => ({
  requestPut: { key: encode(key), value: encode(JSON.stringify(object)) },
});

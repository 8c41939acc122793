import { setTimeout as sleep } from 'node:timers/promises';
import { getLiveHeap } from '../../bench/live-heap.ts';
import { listWatch } from '../../runtime/kubernetes/watch/list-watch.ts';
import type { Identity } from '../../runtime/kubernetes/watch/watch-position.ts';
import { connectTo } from '../control-plane/connect.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';

/** Measures a list and watch of ConfigMaps in a separate process. The store keeps three strings of each object. */
export type WatchMemory = Awaited<ReturnType<typeof measure>>;

const relists = 5;

/** Returns the live heap at first, with the filled store, and after each further list, in bytes. `storeAlone` is the same store without a list. */
async function measure() {
  const { API_SERVER = '', API_CA = '', API_TOKEN = '', API_NAMESPACE = '' } = process.env;
  const transport = connectTo({ server: API_SERVER, ca: API_CA, token: API_TOKEN });
  const store = new Map<string, Identity>();
  const list = async (): Promise<void> => {
    const stop = new AbortController();
    const watch = listWatch({
      transport,
      resource: { ...kinds.configMaps, namespace: API_NAMESPACE },
      metadataOnly: true,
      signal: stop.signal,
      handler: {
        upsert: ({ metadata: { namespace = '', name, uid } }) => store.set(name, { namespace, name, uid }),
        delete: ({ name }) => store.delete(name),
        known: () => store.values(),
      },
    });
    await watch.synced;
    stop.abort();
    await watch.stopped;
  };
  // The first request compiles code and connects, which the measurement excludes.
  await transport.request({ method: 'GET', path: '/version' });
  const before = await liveHeap();
  await list();
  const filled = await liveHeap();
  const relisted: number[] = [];
  for (let index = 0; index < relists; index += 1) {
    await list();
    relisted.push(await liveHeap());
  }
  const objects = store.size;
  store.clear();
  const emptied = await liveHeap();
  for (let index = 0; index < objects; index += 1) {
    const name = `object-${index}`;
    store.set(name, { namespace: API_NAMESPACE, name, uid: `00000000-0000-4000-8000-${index}`.padEnd(36, '0') });
  }
  const storeAlone = (await liveHeap()) - emptied;
  transport.close();
  return { objects, before, filled, relisted, storeAlone };
}

/** A second collection is needed after finalizers. */
async function liveHeap(): Promise<number> {
  getLiveHeap();
  await sleep(20);
  return getLiveHeap();
}

process.stdout.write(JSON.stringify(await measure()));

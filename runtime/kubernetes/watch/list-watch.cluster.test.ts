import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { type ControlPlane, startControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { apply } from '../../../sandbox/manager/apply.ts';
import { type Etcd, etcdAt, type StoredObject } from '../../../sandbox/testing/etcd.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../../../sandbox/testing/tcp-proxy.ts';
import type { WatchMemory } from '../../../sandbox/testing/watch-memory.ts';
import { createClient, listAll, type Client, type KubernetesObject } from '../http/client.ts';
import { CatchUp } from './catch-up.ts';
import { type ListWatch, listWatch, type ListWatchOptions, type RestartCause } from './list-watch.ts';
import type { Identity } from './watch-position.ts';
import { watchKind } from './watches.ts';
import type { Transport } from '../http/transport.ts';
import { kinds } from '../resources/kinds.ts';

let cluster: ControlPlane;
let client: Client;
let etcd: Etcd;
let proxy: TcpProxy;
let transport: Transport;
let stop: AbortController;

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false });
  client = cluster.client;
  etcd = etcdAt(cluster.etcd);
});
afterAll(() => cluster?.stop());

beforeEach(async () => {
  proxy = await startTcpProxy(Number(new URL(cluster.server).port));
  transport = connectTo({ ...cluster, server: `https://127.0.0.1:${proxy.port}` });
  stop = new AbortController();
});
afterEach(async () => {
  stop.abort();
  transport.close();
  await proxy.close();
});

const configMaps = { ...kinds.configMaps, namespace: 'default' };

const put = async (name: string, colour = 'red'): Promise<void> => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { colour } };
  await client.patch({ ...configMaps, name }, { kind: 'apply', body, force: true }, { fieldManager: 'test' });
};
const remove = (name: string): Promise<void> => client.delete({ ...configMaps, name });

interface Watched extends ListWatch {
  /** Reports in order: `+name`, `-name`, `synced`. */
  readonly told: string[];
  readonly restarts: RestartCause[];
  /** Entries are `name@resourceVersion`. */
  holds(): string[];
}

function watch(options: Partial<ListWatchOptions> = {}): Watched {
  const store = new Map<string, Identity & { resourceVersion: string }>();
  const told: string[] = [];
  const restarts: RestartCause[] = [];
  const started = listWatch({
    transport,
    resource: configMaps,
    metadataOnly: true,
    signal: stop.signal,
    onRestart: (cause) => restarts.push(cause),
    handler: {
      upsert({ metadata: { namespace = '', name, uid, resourceVersion } }: KubernetesObject) {
        told.push(`+${name}`);
        const before = store.get(name);
        if (before !== undefined && before.uid !== uid) throw new Error(`${name} was replaced without a notice`);
        store.set(name, { namespace, name, uid, resourceVersion });
      },
      delete({ name, uid }) {
        told.push(`-${name}`);
        if (store.get(name)?.uid !== uid) throw new Error(`${name} was not there in this life`);
        store.delete(name);
      },
      known: () => store.values(),
      synced: () => told.push('synced'),
    },
    ...options,
  });
  const holds = () => [...store.values()].map(({ name, resourceVersion }) => `${name}@${resourceVersion}`).sort();
  return { ...started, told, restarts, holds };
}

const present = async (): Promise<string[]> => {
  const found = await listAll(client, configMaps, { metadataOnly: true });
  return found.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
};

/** After a restart of the API server that takes long, a watch waits for up to 30 s. */
const RECONNECTED = { timeoutMs: 45_000 };

const agree = (...watches: readonly Watched[]): Promise<void> =>
  eventually(async () => {
    const truth = await present();
    for (const each of watches) expect(each.holds()).toEqual(truth);
  }, RECONNECTED);

describe('a connected list-watch', () => {
  it('sends metadata or whole objects, of those selected', async () => {
    await put('chosen');
    await put('other');
    const seen: KubernetesObject[] = [];
    const upsert = (object: KubernetesObject): void => void seen.push(object);
    const handler = { upsert, delete: () => undefined, known: () => [] };
    await watch({ handler, fieldSelector: 'metadata.name=chosen', metadataOnly: false }).synced;
    await watch({ handler, fieldSelector: 'metadata.name=chosen' }).synced;
    expect(seen.map(({ kind, metadata, data }) => [kind, metadata.name, data])).toEqual([
      ['ConfigMap', 'chosen', { colour: 'red' }],
      ['PartialObjectMetadata', 'chosen', undefined],
    ]);
  });

  it('continues if a handler throws, which is reported once', async () => {
    const told: string[] = [];
    const lines: string[] = [];
    const logger = pino({}, { write: (line) => void lines.push(line) });
    const upsert = ({ metadata }: KubernetesObject): void => {
      told.push(metadata.name);
      throw new Error('not this one');
    };
    const handler = { upsert, delete: () => undefined, known: () => [] };
    const watched = watch({ handler, logger });
    await watched.synced;
    await put('thrown-at');
    await eventually(() => expect(told).toContain('thrown-at'));
    expect(told.length).toBeGreaterThan(1);
    // A handler that throws for one object may do so for ten thousand.
    expect(lines.filter((line) => line.includes('not this one'))).toHaveLength(1);
    expect(watched.restarts).toEqual([]);
  });

  it('stops its reports with the signal, and closes its connection', async () => {
    const later = new AbortController();
    const watched = watch();
    const witness = watch({ signal: later.signal });
    await Promise.all([watched.synced, witness.synced]);
    stop.abort();
    await watched.stopped;
    const { length } = watched.told;
    await put('unheard');
    await eventually(() => expect(witness.told).toContain('+unheard'));
    expect(watched.told).toHaveLength(length);
    later.abort();
  });
});

describe('an interrupted list-watch', () => {
  it('misses nothing when streams are closed again and again', async () => {
    const watches = [watch(), watch()];
    await Promise.all(watches.map(({ synced }) => synced));
    // The end of a list is not the start of the stream, so a streamed object proves the stream.
    await put('streamed');
    await agree(...watches);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([put(`cut-${round}`), put('cut-often', `${round}`)]);
      proxy.cut();
      await (round === 0 ? put('cut-gone') : remove(`cut-${round - 1}`));
      await agree(...watches);
    }
    for (const { told, restarts } of watches) {
      expect(restarts.length).toBeGreaterThanOrEqual(3);
      // Each stream resumed at its position, so no object was listed again.
      expect(told.filter((entry) => entry === 'synced')).toHaveLength(1);
    }
  });

  it('continues if its account may only read the object of that name', async () => {
    const name = 'granted';
    const group = 'rbac.authorization.k8s.io';
    const as = 'reader';
    const role = { apiVersion: `${group}/v1`, kind: 'Role', metadata: { name, namespace: 'default' } };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['list', 'watch'] }];
    const given = [
      { ...role, rules },
      {
        ...role,
        kind: 'RoleBinding',
        roleRef: { apiGroup: group, kind: 'Role', name },
        subjects: [{ apiGroup: group, kind: 'User', name: as }],
      },
    ];
    for (const each of given) await apply(client, each);
    const limited = connectTo({ ...cluster, server: `https://127.0.0.1:${proxy.port}` }, { as });
    await put(name);
    // The API server grants a right a moment after it stores the role.
    const fieldSelector = `metadata.name=${name}`;
    await eventually(() => createClient(limited).pages(configMaps, { fieldSelector, limit: 1 }).next());
    const watched = watch({ transport: limited, fieldSelector });
    await watched.synced;
    await put(name, 'blue');
    await eventually(() => expect(watched.told.slice(-1)).toEqual([`+${name}`]));
    proxy.cut();
    await eventually(() => expect(watched.restarts).toContain('disconnected'));
    await put(name, 'green');
    const { metadata } = await client.get({ ...configMaps, name });
    await eventually(() => expect(watched.holds()).toEqual([`${name}@${metadata.resourceVersion}`]));
    expect(watched.restarts).not.toContain('refused');
    limited.close();
  });

  it('asks for the present version without its label, by which etcd would read the whole kind', async () => {
    const asked: unknown[] = [];
    const request: Transport['request'] = (given) => {
      asked.push(given.query?.labelSelector);
      return transport.request(given);
    };
    const watched = watch({ transport: { ...transport, request }, labelSelector: 'colour=none' });
    await watched.synced;
    expect(asked).toEqual([]);
    proxy.cut();
    await eventually(() => expect(asked.length).toBeGreaterThan(0));
    expect(new Set(asked)).toEqual(new Set([undefined]));
  });

  it('is out of date if its kind is gone but its store is not empty, because it missed the deletions', async () => {
    const catchUp = new CatchUp();
    const metadata = { ...definition.metadata, name: 'boxes.test.example' };
    const names = { plural: 'boxes', singular: 'box', kind: 'Box' };
    await client.create(kinds.customResourceDefinitions, {
      ...definition,
      metadata,
      spec: { ...definition.spec, group: 'test.example', names },
    });
    const boxes = { group: 'test.example', version: 'v1alpha1', plural: 'boxes' };
    const box = { apiVersion: 'test.example/v1alpha1', kind: 'Box', metadata: { name: 'box' } };
    await eventually(() => client.create({ ...boxes, namespace: 'default' }, box));
    const watched = watch({ resource: boxes, catchUp });
    await watched.synced;
    proxy.block(true);
    await client.delete({ ...kinds.customResourceDefinitions, name: metadata.name });
    await eventually(() => expect(client.pages(boxes).next()).rejects.toMatchObject({ status: 404 }));
    const before = watched.restarts.length;
    proxy.block(false);
    await eventually(() => expect(watched.restarts.slice(before)).toContain('refused'), RECONNECTED);
    expect([catchUp.isCurrent, watched.holds().length]).toEqual([false, 1]);
  });

  it('reports a deletion and the new object of the same name, in that order', async () => {
    await put('reborn');
    const watched = watch();
    await watched.synced;
    proxy.block(true);
    await remove('reborn');
    await put('reborn');
    proxy.block(false);
    await agree(watched);
    expect(watched.told.slice(watched.told.indexOf('synced') + 1)).toEqual(['-reborn', '+reborn']);
  });

  it('replaces a silent connection', async () => {
    const watched = watch({ watchdogMs: 1_000 });
    await watched.synced;
    proxy.freeze(true);
    await put('behind-the-silence');
    await eventually(() => expect(watched.restarts).toContain('silent'));
    proxy.freeze(false);
    await agree(watched);
  });

  it('is out of date meanwhile, and retries at once if a caller asks', async () => {
    const catchUp = new CatchUp();
    const watched = watch({ catchUp });
    await watched.synced;
    expect(catchUp.isCurrent).toBe(true);
    proxy.block(true);
    await eventually(() => expect(catchUp.isCurrent).toBe(false));
    // After five failures its own retry would be at least four seconds later.
    await eventually(() => expect(watched.restarts.length).toBeGreaterThanOrEqual(5));
    proxy.block(false);
    const asked = performance.now();
    await eventually(async () => {
      await catchUp.catchUp(3_000);
      expect(catchUp.isCurrent).toBe(true);
    });
    expect(performance.now() - asked).toBeLessThan(3_500);
  });
});

describe('a resource version that the server no longer has', () => {
  it('leads to a new list: missed deletions are reported, and those of recreated objects', async () => {
    for (const name of ['stays', 'goes', 'returns']) await put(name);
    const watched = watch();
    await watched.synced;
    proxy.block(true);
    await remove('goes');
    await remove('returns');
    await put('returns');
    await put('comes');
    await etcd.compact();
    await cluster.restartApiServer();
    proxy.block(false);
    await eventually(() => expect(watched.restarts).toContain('expired'), RECONNECTED);
    await agree(watched);
    const after = watched.told.slice(watched.told.indexOf('synced') + 1);
    expect(after).toContain('-goes');
    expect(after.indexOf('-returns')).toBeLessThan(after.indexOf('+returns'));
    expect(after.indexOf('-returns')).toBeGreaterThanOrEqual(0);
    expect(after).not.toContain('-stays');
    expect(after.filter((entry) => entry === 'synced')).toHaveLength(1);
  });
});

describe('an idle list-watch', () => {
  // A stream of an hour gets 60 bookmarks, and one more two seconds before it ends.
  const streams = 32;
  const ends = 2;

  it('keeps its one connection over an hour’s number of bookmarks', async () => {
    const quiet = { ...kinds.secrets, namespace: 'default' };
    const seen = Array.from({ length: streams }, () => recordStreams(transport));
    const watches = seen.map((each) => watch({ transport: each.transport, resource: quiet, streamSeconds: 3 }));
    await Promise.all(watches.map(({ synced }) => synced));
    const began = Number((await client.pages(quiet).next()).value?.resourceVersion);
    // A consistent list of another kind makes etcd report its progress, as a timer otherwise does.
    for (let index = 0; index < 20; index += 1) await put('noise', `${index}`);
    await client.pages(quiet).next();
    await eventually(
      () => {
        for (const { restarts } of watches) expect(restarts.length).toBeGreaterThanOrEqual(ends);
        for (const { from } of seen) expect(Number(from.at(-1))).toBeGreaterThanOrEqual(began + 20);
      },
      { timeoutMs: 30_000 },
    );
    expect(proxy.accepted()).toBe(streams);
    const allStand = (): Promise<void> => eventually(() => expect(seen.filter(({ stands }) => !stands())).toEqual([]));
    // A watch between two streams would not notice the bookmarks.
    await allStand();
    proxy.cut();
    const cut = () => watches.filter(({ restarts }) => restarts.includes('disconnected'));
    await eventually(() => expect(cut().length).toBeGreaterThan(streams / 2));
    await allStand();
    for (const { told } of watches) expect(told).toEqual(['synced']);
  });

  function recordStreams(way: Transport) {
    const from: unknown[] = [];
    let open = 0;
    const stream: Transport['stream'] = (request) => {
      from.push(request.query?.resourceVersion);
      let isOpen = false;
      const onOpen = (): void => {
        isOpen = true;
        open += 1;
        request.onOpen?.();
      };
      return way.stream({ ...request, onOpen }).finally(() => (open -= isOpen ? 1 : 0));
    };
    return { transport: { ...way, stream }, from, stands: () => open === 1 };
  }
});

const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'rollouts.argoproj.io' },
  spec: {
    group: 'argoproj.io',
    scope: 'Namespaced',
    names: { plural: 'rollouts', singular: 'rollout', kind: 'Rollout' },
    versions: [{ name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
};

describe('the watch of a kind whose definition may be absent', () => {
  it.each([
    ['all of it', {}],
    ['that with a label', { labelSelector: 'app=shop' }],
  ])('knows that there is nothing, reads %s with the definition, and forgets it without [F15]', async (_, of) => {
    const rollouts = { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts', addOn: 'Argo Rollouts' };
    const store = new Map<string, Identity>();
    const watched = watchKind(rollouts, {
      transport,
      signal: stop.signal,
      logger: pino({ enabled: false }),
      ...of,
      handler: {
        upsert: ({ metadata: { namespace = '', name, uid } }) => store.set(name, { namespace, name, uid }),
        delete: ({ name }) => store.delete(name),
        known: () => store.values(),
      },
    });
    await watched.synced;
    expect([stop.signal.aborted, store.size]).toEqual([false, 0]);
    const definitions = kinds.customResourceDefinitions;
    await eventually(() => client.create(definitions, definition));
    const metadata = { name: 'canary', labels: { app: 'shop' } };
    const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', metadata };
    await eventually(() => client.create({ ...rollouts, namespace: 'default' }, rollout));
    await eventually(() => expect([...store.keys()]).toEqual(['canary']));
    await client.delete({ ...definitions, name: definition.metadata.name });
    await eventually(() => expect(store.size).toBe(0));
    stop.abort();
    await watched.stopped;
  });
});

describe('10,000 objects', () => {
  const count = 10_000;
  const namespace = 'crowded';
  beforeAll(async () => {
    const metadata = { name: namespace };
    await client.create(kinds.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
    await etcd.store(Array.from({ length: count }, (_, index) => crowd(namespace, index)));
    const crowded = { ...configMaps, namespace };
    // The API server reads another writer's objects once etcd reports them.
    await eventually(async () => {
      expect((await listAll(client, crowded, { metadataOnly: true })).length).toBeGreaterThanOrEqual(count);
    });
  });

  it('are held only by the caller, however often they are listed again', async () => {
    const memory = await measureMemory(namespace);
    expect(memory.objects).toBe(count);
    const own = (memory.filled - memory.before - memory.storeAlone) / count;
    expect(own).toBeLessThan(100);
    for (const bytes of memory.relisted) expect((bytes - memory.filled) / count).toBeLessThan(100);
  });
});

/** Each config map is as large as a small Deployment, with managedFields. */
function crowd(namespace: string, index: number): StoredObject {
  const name = `object-${index}`;
  const fieldsV1 = { 'f:data': Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f:key-${at}`, {}])) };
  return {
    key: `/registry/configmaps/${namespace}/${name}`,
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name,
        namespace,
        uid: `00000000-0000-4000-8000-${`${index}`.padStart(12, '0')}`,
        creationTimestamp: '2030-01-01T00:00:00Z',
        labels: { app: name, tier: 'backend' },
        annotations: { note: 'x'.repeat(200) },
        managedFields: [
          { manager: 'kubectl', operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1 },
        ],
      },
      data: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`key-${at}`, 'value'])),
    },
  };
}

async function measureMemory(namespace: string): Promise<WatchMemory> {
  const program = fileURLToPath(new URL('../../../sandbox/testing/watch-memory.ts', import.meta.url));
  const connection = { API_SERVER: cluster.server, API_CA: cluster.ca, API_TOKEN: cluster.token };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program], {
    env: { ...process.env, ...connection, API_NAMESPACE: namespace },
  });
  return JSON.parse(stdout) as WatchMemory;
}

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
import { listWatch, type ListWatchOptions, type RestartCause } from './list-watch.ts';
import type { Identity, ListWatchHandler } from './watch-position.ts';
import { watchKind } from './watches.ts';
import type { ResourceRef } from '../http/paths.ts';
import type { RequestInfo, Transport } from '../http/transport.ts';
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

function createStore() {
  const store = new Map<string, Identity & { resourceVersion: string }>();
  /** In order: `+name`, `-name`, and `list` when a list begins. */
  const told: string[] = [];
  const handler: ListWatchHandler = {
    upsert({ metadata: { namespace = '', name, uid, resourceVersion } }) {
      told.push(`+${name}`);
      store.set(uid, { namespace, name, uid, resourceVersion });
    },
    delete({ name, uid }) {
      told.push(`-${name}`);
      store.delete(uid);
    },
    known() {
      told.push('list');
      return store.values();
    },
  };
  /** Entries are `name@resourceVersion`. */
  const holds = () => [...store.values()].map(({ name, resourceVersion }) => `${name}@${resourceVersion}`).sort();
  return { handler, told, holds, names: () => [...store.values()].map(({ name }) => name).sort() };
}

function watch(options: Partial<ListWatchOptions> = {}) {
  const store = createStore();
  const restarts: RestartCause[] = [];
  const started = listWatch({
    transport,
    resource: configMaps,
    metadataOnly: true,
    signal: stop.signal,
    onRestart: (cause) => restarts.push(cause),
    handler: store.handler,
    ...options,
  });
  return { ...started, ...store, restarts };
}

/** Records the version from which each stream starts. */
function recordStreams() {
  const from: unknown[] = [];
  const stream: Transport['stream'] = (request) => {
    from.push(request.query?.resourceVersion);
    return transport.stream(request);
  };
  return { from, transport: { ...transport, stream } };
}

/** Keeps each object that is shown. */
function recorder() {
  const seen: KubernetesObject[] = [];
  const upsert = (object: KubernetesObject): void => void seen.push(object);
  return { seen, handler: { upsert, delete: () => undefined, known: () => [] } };
}

const present = async (): Promise<string[]> => {
  const found = await listAll(client, configMaps, { metadataOnly: true });
  return found.map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort();
};

/** After a restart of the API server that takes long, a watch waits for up to 30 s. */
const RECONNECTED = { timeoutMs: 45_000 };

const agree = (...watches: readonly ReturnType<typeof watch>[]): Promise<void> =>
  eventually(async () => {
    const truth = await present();
    for (const each of watches) expect(each.holds()).toEqual(truth);
  }, RECONNECTED);

describe('a connected list-watch', () => {
  it('sends metadata or whole objects, of those selected', async () => {
    await put('chosen');
    await put('other');
    const { seen, handler } = recorder();
    const options = { handler, fieldSelector: 'metadata.name=chosen' };
    await watch({ ...options, metadataOnly: false }).synced;
    await watch(options).synced;
    expect(seen.map(({ kind, metadata, data }) => [kind, metadata.name, data])).toEqual([
      ['ConfigMap', 'chosen', { colour: 'red' }],
      ['PartialObjectMetadata', 'chosen', undefined],
    ]);
  });

  it('continues if a handler throws, which is reported once', async () => {
    const lines: string[] = [];
    const logger = pino({}, { write: (line) => void lines.push(line) });
    const { seen, handler } = recorder();
    const upsert = (object: KubernetesObject): void => {
      handler.upsert(object);
      throw new Error('not this one');
    };
    const watched = watch({ handler: { ...handler, upsert }, logger });
    await watched.synced;
    await put('thrown-at');
    await eventually(() => expect(seen.at(-1)?.metadata.name).toBe('thrown-at'));
    expect(seen.length).toBeGreaterThan(1);
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
    await put('reborn');
    const watches = [watch(), watch()];
    await Promise.all(watches.map(({ synced }) => synced));
    for (const { told } of watches) told.length = 0;
    // The end of a list is not the start of the stream, so a streamed object proves the stream.
    await put('streamed');
    await agree(...watches);
    for (let round = 0; round < 3; round += 1) {
      await Promise.all([put(`cut-${round}`), put('cut-often', `${round}`)]);
      proxy.cut();
      await remove('reborn');
      await put('reborn');
      await agree(...watches);
    }
    for (const { told, restarts } of watches) {
      expect(restarts.length).toBeGreaterThanOrEqual(3);
      // Each stream resumed at its position, so no object was listed again.
      expect(told).not.toContain('list');
    }
  });

  it('continues with the rights for one name, and without its label, by which etcd would read the whole kind', async () => {
    const name = 'granted';
    const apiGroup = 'rbac.authorization.k8s.io';
    const as = 'reader';
    const metadata = { name, namespace: 'default' };
    const rules = [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [name], verbs: ['list', 'watch'] }];
    const roleRef = { apiGroup, kind: 'Role', name };
    const subjects = [{ apiGroup, kind: 'User', name: as }];
    const given = [
      { apiVersion: `${apiGroup}/v1`, kind: 'Role', metadata, rules },
      { apiVersion: `${apiGroup}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects },
    ];
    for (const each of given) await apply(client, each);
    const limited = connectTo({ ...cluster, server: `https://127.0.0.1:${proxy.port}` }, { as });
    await put(name);
    // The API server grants a right a moment after it stores the role.
    const fieldSelector = `metadata.name=${name}`;
    await eventually(() => createClient(limited).pages(configMaps, { fieldSelector, limit: 1 }).next());
    const asked: unknown[] = [];
    const request: Transport['request'] = (given) => {
      asked.push(given.query?.labelSelector);
      return limited.request(given);
    };
    const watched = watch({ transport: { ...limited, request }, fieldSelector, labelSelector: '!missing' });
    await watched.synced;
    // An API server that does not stream lists was asked for one with the label.
    asked.length = 0;
    await put(name, 'blue');
    await eventually(() => expect(watched.told.slice(-1)).toEqual([`+${name}`]));
    proxy.cut();
    await eventually(() => expect(watched.restarts).toContain('disconnected'));
    await put(name, 'green');
    const { resourceVersion } = (await client.get({ ...configMaps, name })).metadata;
    await eventually(() => expect(watched.holds()).toEqual([`${name}@${resourceVersion}`]));
    expect(watched.restarts).not.toContain('refused');
    expect(new Set(asked)).toEqual(new Set([undefined]));
    limited.close();
  });

  it('is out of date if its kind is gone but its store is not empty, because it missed the deletions', async () => {
    let isCurrent: boolean | undefined;
    const boxes = { group: 'test.example', version: 'v1', plural: 'boxes' };
    const boxDefinition = define(boxes, 'Box');
    await client.create(kinds.customResourceDefinitions, boxDefinition);
    const box = { apiVersion: 'test.example/v1', kind: 'Box', metadata: { name: 'box' } };
    await eventually(() => client.create({ ...boxes, namespace: 'default' }, box));
    const watched = watch({ resource: boxes, onCurrent: (is) => (isCurrent = is) });
    await watched.synced;
    proxy.block(true);
    await client.delete({ ...kinds.customResourceDefinitions, name: boxDefinition.metadata.name });
    await eventually(() => expect(client.pages(boxes).next()).rejects.toMatchObject({ status: 404 }));
    const before = watched.restarts.length;
    proxy.block(false);
    await eventually(() => expect(watched.restarts.slice(before)).toContain('refused'), RECONNECTED);
    expect([isCurrent, watched.holds().length]).toEqual([false, 1]);
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

  it('is out of date meanwhile, and retries within two seconds', async () => {
    let isCurrent: boolean | undefined;
    const failedAt: number[] = [];
    const onRestart = () => failedAt.push(performance.now());
    const watched = watch({ onRestart, onCurrent: (is) => (isCurrent = is) });
    await watched.synced;
    expect(isCurrent).toBe(true);
    proxy.block(true);
    await eventually(() => expect(isCurrent).toBe(false));
    // After five failures each usual retry would be at least four seconds later. A busy machine may delay some.
    const pauses = () => failedAt.slice(5).map((at, index) => at - (failedAt[index + 4] ?? 0));
    await eventually(() => expect(Math.min(...pauses())).toBeLessThan(3_900), RECONNECTED);
    expect(isCurrent).toBe(false);
    proxy.block(false);
    await eventually(() => expect(isCurrent).toBe(true));
  });
});

describe('a resource version that the server no longer has', () => {
  it('leads to a new list of a watch, which reports missed deletions, and continues a list in pages', async () => {
    for (const name of ['stays', 'goes', 'returns']) await put(name);
    const watched = watch();
    await watched.synced;
    const from = watched.told.length;
    const codes: number[] = [];
    const listing = connectTo(cluster, { onRequest: ({ code }) => codes.push(code) });
    const pages = createClient(listing).pages(configMaps, { limit: 2 });
    const listed = [...((await pages.next()).value?.items ?? [])];
    proxy.block(true);
    await remove('goes');
    await remove('returns');
    await put('returns');
    await put('comes');
    await etcd.compact();
    // The API server itself keeps versions for longer than etcd does.
    await cluster.restartApiServer();
    proxy.block(false);
    await eventually(() => expect(watched.restarts).toContain('expired'), RECONNECTED);
    await agree(watched);
    const after = watched.told.slice(from);
    expect(after).toEqual(expect.arrayContaining(['list', '-goes', '-returns']));
    expect(after).not.toContain('-stays');

    for await (const { items } of pages) listed.push(...items);
    listing.close();
    expect(codes.filter((code) => code === 410)).toHaveLength(1);
    const { length } = watched.holds();
    expect(new Set(listed.map(({ metadata }) => metadata.name)).size).toBe(length);
    expect(listed).toHaveLength(length);
  });
});

describe('an idle list-watch', () => {
  // A stream of an hour gets 60 bookmarks, and one more two seconds before it ends.
  const streams = 32;
  const ends = 2;

  it('keeps its one connection over an hour’s number of bookmarks', async () => {
    const quiet = { ...kinds.secrets, namespace: 'default' };
    const watches = Array.from({ length: streams }, () => {
      const recorded = recordStreams();
      return { ...recorded, ...watch({ transport: recorded.transport, resource: quiet, streamSeconds: 3 }) };
    });
    await Promise.all(watches.map(({ synced }) => synced));
    for (const { told } of watches) told.length = 0;
    const began = Number((await client.pages(quiet).next()).value?.resourceVersion);
    // A consistent list of another kind makes etcd report its progress, as a timer otherwise does.
    for (let index = 0; index < 20; index += 1) await put('noise', `${index}`);
    await client.pages(quiet).next();
    await eventually(
      () => {
        for (const { restarts, from } of watches) {
          expect(restarts.length).toBeGreaterThanOrEqual(ends);
          expect(Number(from.at(-1))).toBeGreaterThanOrEqual(began + 20);
        }
      },
      { timeoutMs: 30_000 },
    );
    expect(proxy.accepted()).toBe(streams);
    for (const { told } of watches) expect(told).toEqual([]);
  });
});

const define = ({ group, version, plural }: ResourceRef, kind: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural, singular: kind.toLowerCase(), kind },
    versions: [{ name: version, served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
  },
});

describe('the watch of a kind whose definition may be absent', () => {
  it('knows that there is nothing, reads objects with the definition, and forgets them without [F15]', async () => {
    const rollouts = { group: 'argoproj.io', version: 'v1alpha1', plural: 'rollouts', addOn: 'Argo Rollouts' };
    const definition = define(rollouts, 'Rollout');
    const all = createStore();
    const labelled = createStore();
    const options = { transport, signal: stop.signal, logger: pino({ enabled: false }) };
    const watches = [
      watchKind(rollouts, { ...options, handler: all.handler }),
      watchKind(rollouts, { ...options, handler: labelled.handler, labelSelector: 'app=shop' }),
    ];
    const waitForNames = (expected: readonly string[]) =>
      eventually(() => expect([all.names(), labelled.names()]).toEqual([expected, expected]));
    await Promise.all(watches.map(({ synced }) => synced));
    expect([stop.signal.aborted, all.names(), labelled.names()]).toEqual([false, [], []]);
    await client.create(kinds.customResourceDefinitions, definition);
    const metadata = { name: 'canary', labels: { app: 'shop' } };
    const rollout = { apiVersion: 'argoproj.io/v1alpha1', kind: 'Rollout', metadata };
    await eventually(() => client.create({ ...rollouts, namespace: 'default' }, rollout));
    await waitForNames(['canary']);
    await client.delete({ ...kinds.customResourceDefinitions, name: definition.metadata.name });
    await waitForNames([]);
  });
});

const namespace = 'crowded';

describe('10,000 objects', () => {
  const count = 10_000;
  beforeAll(async () => {
    await client.create(kinds.namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await etcd.store(Array.from({ length: count }, (_, index) => crowd(index)));
    const crowded = { ...configMaps, namespace };
    // The API server reads another writer's objects once etcd reports them.
    await eventually(async () => {
      expect((await listAll(client, crowded, { metadataOnly: true })).length).toBeGreaterThanOrEqual(count);
    });
  });

  it('are held only by the caller, however often they are listed again', async () => {
    const memory = await measureMemory();
    expect(memory.objects).toBe(count);
    const own = (memory.filled - memory.before - memory.storeAlone) / count;
    expect(own).toBeLessThan(100);
    for (const bytes of memory.relisted) expect((bytes - memory.filled) / count).toBeLessThan(100);
  });

  describe('a server that cannot stream lists, as before Kubernetes 1.34 [F61]', () => {
    beforeAll(() => cluster.restartApiServer({ flags: ['--feature-gates=WatchList=false'] }));

    it('lists in pages at once and over the same connection, and is then watched', async () => {
      const requests: string[] = [];
      const onRequest = ({ verb, code }: RequestInfo) => requests.push(`${verb} ${code}`);
      const counted = connectTo({ ...cluster, server: `https://127.0.0.1:${proxy.port}` }, { onRequest });
      const resource = { ...configMaps, namespace };
      const watched = watch({ transport: counted, resource });
      await watched.synced;
      expect(watched.names()).toHaveLength(count);
      await eventually(() => expect(requests).toContain('watch 200'));
      const pages = Array<string>(count / 500).fill('list 200');
      expect(requests).toEqual(['watch 422', ...pages, 'watch 200']);
      expect([watched.restarts, proxy.accepted()]).toEqual([[], 1]);
      await client.create(resource, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'made-later' } });
      await eventually(() => expect(watched.names()).toContain('made-later'));
      counted.close();
    });

    it('sends objects with the kind and version of those in a stream', async () => {
      await put('chosen');
      const { seen, handler } = recorder();
      const options = { handler, fieldSelector: 'metadata.name=chosen' };
      await watch({ ...options, metadataOnly: false }).synced;
      await put('chosen', 'blue');
      await eventually(() => expect(seen).toHaveLength(2));
      await watch(options).synced;
      expect(seen.map(({ apiVersion, kind, data }) => [apiVersion, kind, data])).toEqual([
        ['v1', 'ConfigMap', { colour: 'red' }],
        ['v1', 'ConfigMap', { colour: 'blue' }],
        ['meta.k8s.io/v1', 'PartialObjectMetadata', undefined],
      ]);
    });

    it('sends the version from which to watch also if there are none', async () => {
      const { from, ...recorded } = recordStreams();
      await watch({ ...recorded, fieldSelector: 'metadata.name=none' }).synced;
      await eventually(() => expect(from.at(-1)).toMatch(/^\d+$/));
    });
  });
});

/** Each config map is as large as a small Deployment, with managedFields. */
function crowd(index: number): StoredObject {
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

async function measureMemory(): Promise<WatchMemory> {
  const program = fileURLToPath(new URL('../../../sandbox/testing/watch-memory.ts', import.meta.url));
  const connection = { API_SERVER: cluster.server, API_CA: cluster.ca, API_TOKEN: cluster.token };
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', program], {
    env: { ...process.env, ...connection, API_NAMESPACE: namespace },
  });
  return JSON.parse(stdout) as WatchMemory;
}

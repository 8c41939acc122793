import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { startControlPlane, type ControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { etcdAt } from '../../../sandbox/testing/etcd.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../../../sandbox/testing/tcp-proxy.ts';
import { listAll, type KubernetesObject } from '../http/client.ts';
import type { Identity } from './watch-position.ts';
import { listWatch, type ListWatchOptions } from '../watch/list-watch.ts';
import type { RequestInfo, Transport } from '../http/transport.ts';
import { kinds } from '../resources/kinds.ts';

/** API servers before Kubernetes 1.34 stream lists only if a feature gate is on. */
let cluster: ControlPlane;
let transport: Transport;
let stop: AbortController;

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false, apiServerFlags: ['--feature-gates=WatchList=false'] });
});
afterAll(() => cluster?.stop());
beforeEach(() => {
  transport = connectTo(cluster);
  stop = new AbortController();
});
afterEach(() => {
  stop.abort();
  transport.close();
});

const configMaps = { ...kinds.configMaps, namespace: 'default' };

const put = async (name: string, colour = 'red'): Promise<void> => {
  const body = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { colour } };
  await cluster.client.patch({ ...configMaps, name }, { kind: 'apply', body, force: true }, { fieldManager: 'test' });
};

function watch(more: Partial<ListWatchOptions> = {}) {
  const seen: KubernetesObject[] = [];
  const handler = {
    upsert: (object: KubernetesObject) => void seen.push(object),
    delete: () => undefined,
    known: () => [],
  };
  const options = { transport, resource: configMaps, signal: stop.signal, fieldSelector: 'metadata.name=chosen' };
  return { seen, ...listWatch({ ...options, handler, ...more }) };
}

describe('a server that does not stream lists [F61]', () => {
  it('gets a request for a list, whose objects have kind and version as those of a stream', async () => {
    await put('chosen');
    const { seen, synced } = watch();
    await synced;
    await put('chosen', 'blue');
    await eventually(() => expect(seen).toHaveLength(2));
    expect(seen.map(({ apiVersion, kind, data }) => [apiVersion, kind, data])).toEqual([
      ['v1', 'ConfigMap', { colour: 'red' }],
      ['v1', 'ConfigMap', { colour: 'blue' }],
    ]);
  });

  it('gets one for metadata alone as well', async () => {
    await put('chosen');
    const { seen, synced } = watch({ metadataOnly: true });
    await synced;
    expect(seen.map(({ kind, data }) => [kind, data])).toEqual([['PartialObjectMetadata', undefined]]);
  });

  it('returns the version from which to watch, also without objects', async () => {
    const from: unknown[] = [];
    const stream: Transport['stream'] = (request) => {
      from.push(request.query?.resourceVersion);
      return transport.stream(request);
    };
    const nobody = { metadataOnly: true, fieldSelector: 'metadata.name=nobody' };
    const { synced } = watch({ ...nobody, transport: { ...transport, stream } });
    await synced;
    await eventually(() => expect(from.at(-1)).toMatch(/^\d+$/));
  });
});

const rbac = 'rbac.authorization.k8s.io';
const roleNamed = (name: string) => ({
  key: `/registry/clusterroles/${name}`,
  object: { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name, uid: `uid-of-${name}` }, rules: [] },
});
const roles = { group: rbac, version: 'v1', plural: 'clusterroles' };

describe('a server that cannot stream lists', () => {
  let proxy: TcpProxy;
  let counted: Transport;
  const requests: string[] = [];
  beforeAll(async () => {
    proxy = await startTcpProxy(Number(new URL(cluster.server).port));
    const onRequest = ({ verb, code }: RequestInfo) => requests.push(`${verb} ${code}`);
    counted = connectTo({ ...cluster, server: `https://127.0.0.1:${proxy.port}` }, { onRequest });
  });
  afterAll(async () => {
    counted?.close();
    await proxy?.close();
  });

  it('gets requests for pages instead, at once and over the same connection', async () => {
    await etcdAt(cluster.etcd).store(Array.from({ length: 1_000 }, (_, index) => roleNamed(`crowd-${index}`)));
    const store = new Map<string, Identity>();
    const restarts: string[] = [];
    const { synced } = listWatch({
      transport: counted,
      resource: roles,
      metadataOnly: true,
      signal: stop.signal,
      onRestart: (cause) => restarts.push(cause),
      handler: {
        upsert: ({ metadata: { name, uid } }) => store.set(name, { namespace: '', name, uid }),
        delete: ({ name }) => store.delete(name),
        known: () => store.values(),
      },
    });
    await synced;
    const names = (await listAll(cluster.client, roles)).map(({ metadata }) => metadata.name);
    expect([...store.keys()].sort()).toEqual(names.sort());
    const pages = Math.ceil(names.length / 500);
    expect(pages).toBeGreaterThan(2);
    await eventually(() => expect(requests).toContain('watch 200'));
    expect(requests).toEqual(['watch 422', ...Array.from({ length: pages }, () => 'list 200'), 'watch 200']);
    expect([restarts, proxy.accepted()]).toEqual([[], 1]);

    const metadata = { name: 'made-later' };
    await cluster.client.create(roles, { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata });
    await eventually(() => expect(store.has('made-later')).toBe(true));
  });
});

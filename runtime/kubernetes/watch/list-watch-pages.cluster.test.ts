import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { connectTo } from '../../../sandbox/control-plane/connect.ts';
import { type ControlPlane, startControlPlane } from '../../../sandbox/control-plane/control-plane.ts';
import { etcdAt } from '../../../sandbox/testing/etcd.ts';
import { eventually } from '../../../sandbox/testing/eventually.ts';
import { startTcpProxy, type TcpProxy } from '../../../sandbox/testing/tcp-proxy.ts';
import { listWatch } from './list-watch.ts';
import type { Identity } from './watch-position.ts';
import type { RequestInfo, Transport } from '../http/transport.ts';

/** Servers older than Kubernetes 1.32, and those with the feature off, cannot stream a list. */
let cluster: ControlPlane;
let proxy: TcpProxy;
let transport: Transport;
const requests: string[] = [];
const stop = new AbortController();

beforeAll(async () => {
  cluster = await startControlPlane({ controllerManager: false, apiServerFlags: ['--feature-gates=WatchList=false'] });
  proxy = await startTcpProxy(Number(new URL(cluster.server).port));
  const onRequest = ({ verb, code }: RequestInfo) => requests.push(`${verb} ${code}`);
  transport = connectTo({ ...cluster, server: `https://127.0.0.1:${proxy.port}` }, { onRequest });
});
afterAll(async () => {
  stop.abort();
  transport?.close();
  await proxy?.close();
  await cluster?.stop();
});

const rbac = 'rbac.authorization.k8s.io';
const roleNamed = (name: string) => ({
  key: `/registry/clusterroles/${name}`,
  object: { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name, uid: `uid-of-${name}` }, rules: [] },
});
const roles = { group: rbac, version: 'v1', plural: 'clusterroles' };

describe('a server that cannot stream lists', () => {
  it('gets requests for pages instead, at once and over the same connection', async () => {
    await etcdAt(cluster.etcd).store(Array.from({ length: 1_000 }, (_, index) => roleNamed(`crowd-${index}`)));
    const store = new Map<string, Identity>();
    const restarts: string[] = [];
    const watch = listWatch({
      transport,
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
    await watch.synced;
    const names: string[] = [];
    for await (const { items } of cluster.client.pages(roles))
      names.push(...items.map(({ metadata }) => metadata.name));
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

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { pino } from 'pino';
import { getLiveHeap } from '../../bench/live-heap.ts';
import { connectTo } from '../../sandbox/control-plane/connect.ts';
import { getLumigo } from '../../sandbox/lumigo.ts';
import { startInstalled, type InstalledCluster } from '../../sandbox/testing/installed-cluster.ts';
import { podMode } from '../../sandbox/testing/pod-policy.ts';
import { getPod } from '../../sandbox/testing/workloads.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { forEachConcurrent } from '../async/for-each-concurrent.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { PodCounts, type PodsSeen } from './pod-counts.ts';

let installed: InstalledCluster;
beforeAll(async () => {
  installed = await startInstalled({});
});
afterAll(() => installed?.stop());

const LONG = 'x'.repeat(250_000);
const PODS = 40;

/** A controller of any name and uid, and annotations: 750 KB in all. */
function large(namespace: string, index: number) {
  const pod = getPod(namespace, `pod-${index}`);
  const owner = { apiVersion: 'v1', kind: 'StatefulSet', controller: true, name: LONG, uid: `${LONG}${index}` };
  return { ...pod, metadata: { ...pod.metadata, annotations: { long: LONG }, ownerReferences: [owner] } };
}

function activeIn(namespace: string): LumigoResource {
  const { metadata, ...lumigo } = getLumigo(namespace, podMode) as unknown as LumigoResource;
  const time = { reason: 'Ready', message: '', lastTransitionTime: '2026-11-28T20:00:00Z' } as const;
  const status = { conditions: [{ type: 'Active', status: 'True', ...time } as const] };
  return { ...lumigo, metadata: { ...metadata, uid: 'a', resourceVersion: '1' }, status };
}

it('counts pods without their annotations and long owners in memory [F66]', async () => {
  const { cluster, testCluster, installation } = installed;
  const namespace = await testCluster.namespace('large');
  await testCluster.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name: 'default' } });
  const indexes = Array.from({ length: PODS }, (_, index) => index);
  await forEachConcurrent(4, indexes, async (index) => void (await testCluster.create(large(namespace, index))));
  const lumigoes = new LumigoStore([]);
  lumigoes.upsert(activeIn(namespace));
  const used: number[] = [];
  const transport = connectTo(cluster, { onRequest: () => used.push(getLiveHeap()) });
  const stop = new AbortController();
  let onSeen: (namespace: string, seen: PodsSeen | undefined) => void = () => undefined;
  const seen = new Promise<PodsSeen | undefined>((resolve) => (onSeen = (_namespace, each) => resolve(each)));
  const counts = new PodCounts({
    ...{ transport, lumigoes, synced: Promise.resolve(), onSeen, logger: pino({ level: 'silent' }) },
    config: { ...installation.config, podName: 'a' },
  });
  const before = getLiveHeap();
  const running = counts.run({ signal: stop.signal, fence: () => undefined, previousRenewTime: undefined });
  const found = await seen;
  stop.abort();
  await running;
  transport.close();
  // A page and its text have up to 8 MiB.
  expect(Math.max(...used) - before).toBeLessThan(16e6);
  expect(found).toMatchObject({ injected: 0, restart: [] });
});

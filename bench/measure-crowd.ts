import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { workloadKinds } from '../runtime/contract.ts';
import type { KubernetesObject } from '../runtime/kubernetes/http/client.ts';
import { startApiProxy } from '../sandbox/faults/api-proxy.ts';
import { startManager } from '../sandbox/manager/manager.ts';
import { eventually } from '../sandbox/testing/eventually.ts';
import { makeFleet } from './fleet.ts';
import { getUsage, type Usage } from './process-usage.ts';
import { asInThePod, type Surroundings } from './surroundings.ts';
import type { Figure } from './table.ts';

const { deployment } = workloadKinds;
/** Numbers of workloads. */
const FEWER = 10_000;
const MORE = 100_000;
const NAMESPACES = 100;
const LISTED_MS = 300_000;

/** Measures the peak of the leader's memory for workloads without a `Lumigo`. A proxy streams them: real ones would take half an hour. */
export async function measureCrowd(there: Surroundings): Promise<Figure[]> {
  const { testCluster } = there;
  const namespace = await makeFleet(testCluster, 1);
  const sample = await testCluster.client.get({ ...deployment, namespace, name: 'app-0' }, { metadataOnly: true });
  await there.manager.stop();
  const fewer = await listed(there, FEWER, sample);
  const more = await listed(there, MORE, sample);
  const each = (more.residentBytes - fewer.residentBytes) / 1_024 / (MORE - FEWER);
  const peak = { name: 'peak memory of the first list, no namespace with a Lumigo', unit: 'MB' };
  return [
    { ...peak, count: FEWER, value: fewer.peakBytes / 1e6, target: 90 },
    { ...peak, count: MORE, value: more.peakBytes / 1e6, target: 160 },
    { name: 'resident memory for each Deployment', value: each, unit: 'KB' },
  ];
}

async function listed(there: Surroundings, count: number, sample: KubernetesObject): Promise<Usage> {
  const { cluster, installation, node, say } = there;
  say(`${count} Deployments in namespaces without a Lumigo`);
  const proxy = await startApiProxy(cluster);
  proxy.interfere = ({ path, isWatch }) =>
    isWatch && path.startsWith('/apis/apps/v1/deployments?') ? { lines: crowd(count, sample) } : undefined;
  const { webhookPort } = there.manager;
  try {
    const manager = await startManager({ ...cluster, server: proxy.server }, installation, {
      name: `crowd-${count}`,
      webhookPort,
      node,
      environment: asInThePod,
    });
    const leads = () => {
      if (!readFileSync(manager.logFile, 'utf8').includes('"msg":"reconciler ready"'))
        throw new Error(`see ${manager.logFile}`);
    };
    const complaint = 'the leader has not listed all';
    await eventually(leads, { complaint, timeoutMs: LISTED_MS, processes: [manager] });
    const usage = getUsage(manager.pid);
    await manager.stop();
    return usage;
  } finally {
    await proxy.close();
  }
}

/** Yields a streamed list in the format of the API server. */
function* crowd(count: number, { metadata, ...rest }: KubernetesObject): Generator<string> {
  const line = (type: string, changed: object) =>
    `${JSON.stringify({ type, object: { ...rest, metadata: { ...metadata, ...changed } } })}\n`;
  for (let index = 0; index < count; index += 1)
    yield line('ADDED', { name: `app-${index}`, namespace: `crowd-${index % NAMESPACES}`, uid: randomUUID() });
  yield line('BOOKMARK', { annotations: { 'k8s.io/initial-events-end': 'true' } });
}

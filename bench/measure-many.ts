import { setTimeout as sleep } from 'node:timers/promises';
import { labels, lumigo, workloadKinds } from '../runtime/contract.ts';
import { listAll } from '../runtime/kubernetes/http/client.ts';
import type { LumigoResource } from '../runtime/api/lumigo.ts';
import type { TestCluster } from '../sandbox/testing/test-cluster.ts';
import { eventually } from '../sandbox/testing/eventually.ts';
import { createWorkload } from '../sandbox/testing/workloads.ts';
import { measureLateness } from './event-loop.ts';
import { instrumentFleet, makeFleet, patchLoop, waitForNone } from './fleet.ts';
import { quantile } from '../sandbox/testing/quantile.ts';
import { getUsage } from './process-usage.ts';
import { during, type Surroundings } from './surroundings.ts';
import { countSeconds, timed, type Figure } from './table.ts';

const { deployment } = workloadKinds;
const NAMESPACES = 100;
const EACH = 100;
const MAX_CONCURRENT = 200;
const FLEET = 20;
const CHANGES = 20;
const POLL_MS = 500;
/** The events of the previous measurement are posted within this time. */
const REST_MS = 20_000;

export async function measureMany(there: Surroundings): Promise<Figure[]> {
  return [...(await measureNamespaces(there)), ...(await measureCreates(there)), ...(await measureSwitches(there))];
}

/** Measures a hundred namespaces that get their `Lumigo` at once, beside a small one with a tenth of their Deployments. */
async function measureNamespaces({ testCluster, manager, say }: Surroundings): Promise<Figure[]> {
  say('1,000 Deployments in one namespace');
  const floor = await patchLoop(testCluster, await makeFleet(testCluster, 1_000));
  const one = await makeFleet(testCluster, 1_000);
  const alone = await measureLateness(manager.pid, () => instrumentFleet(testCluster, one, 1_000));
  say(`${NAMESPACES * EACH} Deployments in ${NAMESPACES} namespaces`);
  const namespaces: string[] = [];
  for (let index = 0; index < NAMESPACES; index += 1) namespaces.push(await makeFleet(testCluster, EACH));
  let floorOfAll = 0;
  for (const namespace of namespaces) floorOfAll += await patchLoop(testCluster, namespace);
  const all = await during(manager.pid, () =>
    measureLateness(manager.pid, () => instrumentAll(testCluster, namespaces)),
  );
  return [
    { name: '1,000 Deployments in one namespace', value: alone.result, unit: 's' },
    { name: '… bare loop of patches', value: floor, unit: 's' },
    { name: '… event loop delay, p99', value: alone.lateness.p99Ms, unit: 'ms', target: 5 },
    { name: '10,000 Deployments in 100 namespaces', value: all.result.result, unit: 's' },
    { name: '… bare loop of patches', value: floorOfAll, unit: 's' },
    { name: '… bare loop: time for one / for one of 1,000', value: floorOfAll / floor / 10, unit: 'x' },
    { name: '… time for one / for one of 1,000', value: all.result.result / alone.result / 10, unit: 'x', target: 1 },
    { name: '… event loop delay, p99', value: all.result.lateness.p99Ms, unit: 'ms', target: 5 },
    { name: '… event loop delay, longest', value: all.result.lateness.maxMs, unit: 'ms' },
    { name: '… CPU', value: all.cpuSeconds, unit: 's' },
    { name: '… peak resident', value: getUsage(manager.pid).peakBytes / 1e6, unit: 'MB' },
  ];
}

/** Returns the seconds from the first `Lumigo` until each counts all workloads of its namespace. */
async function instrumentAll(testCluster: TestCluster, namespaces: readonly string[]): Promise<number> {
  for (const namespace of namespaces) await testCluster.secret(namespace);
  return countSeconds(async () => {
    await Promise.all(namespaces.map((namespace) => testCluster.lumigo(namespace)));
    await eventually(
      async () => {
        const all = (await listAll(testCluster.client, lumigo)) as unknown as LumigoResource[];
        const done = all.filter(({ status }) => status?.instrumentedResourcesCount === EACH).length;
        if (done < namespaces.length) throw new Error(`${done} of ${namespaces.length} namespaces are instrumented`);
      },
      { intervalMs: POLL_MS, timeoutMs: 600_000 },
    );
  });
}

/** Measures simultaneous creates, with and without the webhook. */
async function measureCreates({ testCluster, say }: Surroundings): Promise<Figure[]> {
  say(`${MAX_CONCURRENT} Deployments created at once`);
  const namespace = await testCluster.namespace('at-once');
  await testCluster.activate(namespace);
  await testCluster.waitForWebhook(namespace);
  const create = async (where: string) => {
    const names = Array.from({ length: MAX_CONCURRENT }, (_, index) => `at-once-${index}`);
    const took = await Promise.all(
      names.map((name) => timed(() => testCluster.create(createWorkload(deployment, where, name)))),
    );
    return quantile(took, 0.99);
  };
  await create(await testCluster.namespace('warm'));
  await sleep(REST_MS);
  return [
    { name: '200 creates at once, p99, no webhook (kube-system)', value: await create('kube-system'), unit: 'ms' },
    { name: '200 creates at once, p99', value: await create(namespace), unit: 'ms', target: 100 },
  ];
}

/** Measures the time from a change of a `Lumigo` until the last workload has it. */
async function measureSwitches({ testCluster, say }: Surroundings): Promise<Figure[]> {
  say(`a Lumigo of ${FLEET} Deployments switched off and on ${CHANGES} times`);
  const namespace = await makeFleet(testCluster, FLEET);
  await instrumentFleet(testCluster, namespace, FLEET);
  await sleep(REST_MS);
  const took: number[] = [];
  for (let change = 0; change < CHANGES; change += 1) {
    const enabled = change % 2 === 1;
    const switched = async () => {
      await testCluster.changeLumigo(namespace, { spec: { tracing: { injection: { enabled } } } });
      await waitForNone(testCluster, namespace, enabled ? `!${labels.autoTrace}` : labels.autoTrace);
    };
    took.push(await timed(switched));
  }
  return [{ name: 'change of a Lumigo to the last of 20 patches, p95', value: quantile(took, 0.95), unit: 'ms' }];
}

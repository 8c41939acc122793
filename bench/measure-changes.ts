import { setTimeout as sleep } from 'node:timers/promises';
import { instrumentFleet, makeFleet, patchLoop, uninstrumentFleet } from './fleet.ts';
import { getUsage } from './process-usage.ts';
import { during, countRequests, type Surroundings } from './surroundings.ts';
import type { Figure } from './table.ts';

/** After this pause, garbage of one run is not measured as growth of the next one. */
const REST_MS = 5_000;
const IDLE_SECONDS = 60;

export async function measureChanges(there: Surroundings, counts: readonly number[]): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of counts) figures.push(...(await measureOne(there, count)));
  return figures;
}

async function measureOne({ testCluster, manager, say }: Surroundings, count: number): Promise<Figure[]> {
  say(`${count} Deployments: the bare loop`);
  const floor = await patchLoop(testCluster, await makeFleet(testCluster, count));
  const namespace = await makeFleet(testCluster, count);
  await sleep(REST_MS);
  const residentBefore = getUsage(manager.pid).residentBytes;
  const requestsBefore = await countRequests(manager);
  say(`${count} Deployments: instrumenting`);
  const added = await during(manager.pid, () => instrumentFleet(testCluster, namespace, count));
  const requestsBetween = await countRequests(manager);
  await sleep(REST_MS);
  const resident = getUsage(manager.pid).residentBytes;
  say(`${count} Deployments: uninstrumenting`);
  const removed = await during(manager.pid, () => uninstrumentFleet(testCluster, namespace));
  const requestsAfter = await countRequests(manager);
  return [
    { name: 'bare loop of patches', value: floor, unit: 's' },
    { name: 'instrumenting', value: added.result, unit: 's' },
    { name: 'instrumenting / bare loop', value: added.result / floor, unit: 'x', target: 1.6 },
    { name: 'requests to instrument one', value: (requestsBetween - requestsBefore) / count, unit: '', target: 2.1 },
    { name: 'CPU to instrument all', value: added.cpuSeconds, unit: 's' },
    { name: 'uninstrumenting', value: removed.result.clean, unit: 's' },
    { name: 'uninstrumenting / bare loop', value: removed.result.clean / floor, unit: 'x', target: 1.8 },
    { name: 'until all events are sent and the Lumigo is deleted', value: removed.result.gone, unit: 's' },
    { name: 'requests to uninstrument one', value: (requestsAfter - requestsBetween) / count, unit: '', target: 2.1 },
    { name: 'CPU to uninstrument all', value: removed.cpuSeconds, unit: 's' },
    {
      name: 'growth of resident memory per workload',
      value: (resident - residentBefore) / 1_024 / count,
      unit: 'KB',
      target: 1,
    },
    { name: 'peak resident', value: Math.max(added.after.peakBytes, removed.after.peakBytes) / 1e6, unit: 'MB' },
  ].map((figure) => ({ ...figure, count }));
}

/** Measures the manager while nothing happens, with one `Lumigo` and its Lease. */
export async function measureIdle({ testCluster, manager, say }: Surroundings): Promise<Figure[]> {
  await testCluster.activate(await testCluster.namespace('idle'));
  say(`idle: watching for ${IDLE_SECONDS} s`);
  await sleep(10_000);
  const before = await countRequests(manager);
  const { cpuSeconds } = await during(manager.pid, () => sleep(IDLE_SECONDS * 1_000));
  const requests = (await countRequests(manager)) - before;
  return [
    { name: 'ready after process start', value: manager.readyAfterMs / 1_000, unit: 's', target: 1 },
    { name: 'idle: resident', value: getUsage(manager.pid).residentBytes / 1e6, unit: 'MB', target: 75 },
    { name: 'idle: share of a core', value: (cpuSeconds / IDLE_SECONDS) * 100, unit: '%', target: 1 },
    { name: 'idle: requests a minute', value: (requests / IDLE_SECONDS) * 60, unit: '', target: 20 },
  ];
}

import { setTimeout as sleep } from 'node:timers/promises';
import { instrumentFleet, makeFleet, patchLoop, uninstrumentFleet } from './fleet.ts';
import { usageOf } from './process-usage.ts';
import { during, requestsOf, type Surroundings } from './surroundings.ts';
import type { Figure } from './table.ts';

/** Until what was written is collected, so that one run's garbage is not the next one's growth. */
const REST_MS = 5_000;

/** Instrumenting and uninstrumenting existing Deployments, beside a bare loop of as many patches. */
export async function measureChanges(
  there: Surroundings,
  counts: readonly number[],
  say: (line: string) => void,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const count of counts) figures.push(...(await measureOne(there, count, say)));
  return figures;
}

async function measureOne(
  { cluster: { client }, manager }: Surroundings,
  count: number,
  say: (line: string) => void,
): Promise<Figure[]> {
  say(`${count} Deployments: the bare loop`);
  const floor = await patchLoop(client, await makeFleet(client, count));
  const namespace = await makeFleet(client, count);
  await sleep(REST_MS);
  const residentBefore = usageOf(manager.pid).residentBytes;
  const requestsBefore = await requestsOf(manager);
  say(`${count} Deployments: instrumenting`);
  const added = await during(manager.pid, () => instrumentFleet(client, namespace, count));
  const requestsBetween = await requestsOf(manager);
  await sleep(REST_MS);
  const resident = usageOf(manager.pid).residentBytes;
  say(`${count} Deployments: uninstrumenting`);
  const removed = await during(manager.pid, () => uninstrumentFleet(client, namespace));
  const requestsAfter = await requestsOf(manager);
  const of = (name: string) => `${name}, ${count} Deployments`;
  return [
    { name: of('bare loop of patches'), value: floor, unit: 's' },
    { name: of('instrumenting'), value: added.result, unit: 's' },
    { name: of('instrumenting / bare loop'), value: added.result / floor, unit: 'x', target: 1.6 },
    {
      name: of('requests to instrument one'),
      value: (requestsBetween - requestsBefore) / count,
      unit: '',
      target: 2.1,
    },
    { name: of('CPU to instrument all'), value: added.cpuSeconds, unit: 's' },
    { name: of('uninstrumenting'), value: removed.result.clean, unit: 's' },
    { name: of('uninstrumenting / bare loop'), value: removed.result.clean / floor, unit: 'x', target: 1.8 },
    { name: of('until all is told and the Lumigo is gone'), value: removed.result.gone, unit: 's' },
    {
      name: of('requests to uninstrument one'),
      value: (requestsAfter - requestsBetween) / count,
      unit: '',
      target: 2.1,
    },
    { name: of('CPU to uninstrument all'), value: removed.cpuSeconds, unit: 's' },
    {
      name: of('resident growth per workload'),
      value: (resident - residentBefore) / 1_024 / count,
      unit: 'KB',
      target: 1,
    },
    { name: of('peak resident'), value: removed.after.peakBytes / 1e6, unit: 'MB' },
  ];
}

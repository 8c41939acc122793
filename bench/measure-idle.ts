import { setTimeout as sleep } from 'node:timers/promises';
import { Bench } from '../sandbox/testing/bench.ts';
import { usageOf } from './process-usage.ts';
import { during, requestsOf, type Surroundings } from './surroundings.ts';
import type { Figure } from './table.ts';

/** What the manager costs while nothing happens, with one Lumigo and its Lease. */
export async function measureIdle({ cluster, manager, say }: Surroundings, seconds: number): Promise<Figure[]> {
  const bench = new Bench(cluster.client);
  await bench.activate(await bench.namespace('idle'));
  say(`idle: watching for ${seconds} s`);
  await sleep(10_000);
  const before = await requestsOf(manager);
  const { cpuSeconds } = await during(manager.pid, () => sleep(seconds * 1_000));
  const requests = (await requestsOf(manager)) - before;
  return [
    { name: 'ready after process start', value: manager.readyAfterMs / 1_000, unit: 's', target: 1 },
    { name: 'idle: resident', value: usageOf(manager.pid).residentBytes / 1e6, unit: 'MB', target: 75 },
    { name: 'idle: share of a core', value: (cpuSeconds / seconds) * 100, unit: '%', target: 1 },
    { name: 'idle: requests a minute', value: (requests / seconds) * 60, unit: '', target: 20 },
  ];
}

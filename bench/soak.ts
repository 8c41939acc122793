import { setTimeout as sleep } from 'node:timers/promises';
import { workloadKinds } from '../runtime/contract.ts';
import type { TestCluster } from '../sandbox/testing/test-cluster.ts';
import { createWorkload } from '../sandbox/testing/workloads.ts';
import { instrumentFleet, makeFleet } from './fleet.ts';
import { quantile } from '../sandbox/testing/quantile.ts';
import { getUsage } from './process-usage.ts';
import type { Surroundings } from './surroundings.ts';
import type { Figure } from './table.ts';

const { deployment } = workloadKinds;
const FLEET = 200;
const PER_SECOND = 20;
const EACH_MS = 1_000 / PER_SECOND;

/** Changes Deployments for some seconds, and measures what remains in memory, watches and events. */
export async function soak({ testCluster, manager, say }: Surroundings, seconds: number): Promise<Figure[]> {
  const namespace = await makeFleet(testCluster, FLEET);
  await instrumentFleet(testCluster, namespace, FLEET);
  const restarts = () => manager.metric('lumigo_operator_watch_restarts_total', `resource="${deployment.plural}"`);
  const before = await restarts();
  const resident: number[] = [];
  const started = performance.now();
  say(`${PER_SECOND} changes a second for ${seconds} s`);
  let failures = 0;
  const changes = seconds * PER_SECOND;
  for (let index = 0; index < changes; index += 1) {
    await sleep(Math.max(0, started + index * EACH_MS - performance.now()));
    void change(testCluster, namespace, index).catch(() => {
      failures += 1;
    });
    if (index % PER_SECOND === 0) resident.push(getUsage(manager.pid).residentBytes / 1e6);
  }
  const took = (performance.now() - started) / 1_000;
  await sleep(10_000);
  const tenth = Math.ceil(resident.length / 10);
  return [
    { name: 'soak: changes a second', value: changes / took, unit: '' },
    { name: 'soak: changes that failed', value: failures, unit: '', target: 0 },
    // The heap fills in the first tenths.
    ...grown(resident.slice(3 * tenth, 5 * tenth), resident.slice(-2 * tenth)),
    { name: 'soak: restarts of the watch', value: (await restarts()) - before, unit: '', target: 0 },
    ...(await readFigures(testCluster, namespace)),
  ];
}

function grown(early: readonly number[], late: readonly number[]): Figure[] {
  const end = quantile(late, 0.5);
  return [
    { name: 'soak: resident memory at the end', value: end, unit: 'MB' },
    { name: 'soak: memory growth since the middle', value: end - quantile(early, 0.5), unit: 'MB', target: 5 },
  ];
}

/** Two of four changes of a Deployment set an annotation, one deletes it and one creates it again. */
async function change(testCluster: TestCluster, namespace: string, index: number): Promise<void> {
  const round = Math.floor(index / FLEET) % 4;
  const name = `app-${index % FLEET}`;
  if (round === 1) await testCluster.client.delete({ ...deployment, namespace, name });
  else if (round === 2) await testCluster.create(createWorkload(deployment, namespace, name));
  else await testCluster.merge(deployment, namespace, name, { metadata: { annotations: { changed: String(index) } } });
}

/** Each created Deployment must be instrumented once. */
async function readFigures(testCluster: TestCluster, namespace: string): Promise<Figure[]> {
  const events = await testCluster.events(namespace);
  const added = events.filter(({ reason }) => reason === 'LumigoAddedInstrumentation');
  const uids = new Set(added.map(({ involvedObject }) => involvedObject.uid));
  return [
    { name: 'soak: Deployments with an event for their injection', value: uids.size, unit: '' },
    { name: 'soak: duplicate events', value: added.length - uids.size, unit: '', target: 0 },
  ];
}

import { setTimeout as sleep } from 'node:timers/promises';
import { Bench, validToken } from '../sandbox/testing/bench.ts';
import { launch, whenAnswering, type Running } from '../sandbox/control-plane/processes.ts';
import { labels } from '../runtime/contract.ts';
import type { Client } from '../runtime/kubernetes/http/client.ts';
import { lumigoOf, makeFleet, notInstrumented, untilNone } from './fleet.ts';
import { usageOf } from './process-usage.ts';
import { during, type Surroundings } from './surroundings.ts';
import type { Figure } from './table.ts';

const READY_MS = 120_000;
/** Until what one of them wrote is collected, and what it had is closed. */
const REST_MS = 5_000;

/**
 * The same work by this operator and then by another one, on the same control plane: existing Deployments without pods, from the
 * creation of a Lumigo until each carries the label `lumigo.auto-trace`, and from its deletion until none does. The other one is a
 * command that takes the cluster from KUBECONFIG and follows the same Lumigo resources; both work without their webhook.
 */
export async function measureAgainst(
  there: Surroundings,
  command: string,
  counts: readonly number[],
): Promise<Figure[]> {
  const { cluster, manager, say } = there;
  const figures: Figure[] = [];
  const measure = async (who: string, pid: number) => {
    for (const count of counts) {
      say(`${who}: ${count} Deployments`);
      figures.push(...(await measureOne(cluster.client, who, pid, count)));
    }
  };
  await measure('this operator', manager.pid);
  await manager.stop();
  const { dir, reaper, kubeconfig } = cluster;
  const environment = { ...process.env, KUBECONFIG: kubeconfig };
  const args = ['-c', `exec ${command}`];
  const other = launch({ name: 'other', path: '/bin/sh', args, folder: dir, reaper, environment });
  try {
    await whenWorking(there, other);
    await measure('other operator', other.pid);
  } finally {
    await other.stop();
  }
  return figures;
}

/** @throws Error with the end of what the other one wrote, where it ends or instruments nothing */
async function whenWorking({ cluster: { client }, say }: Surroundings, other: Running): Promise<void> {
  say('other operator: waiting until it instruments one Deployment');
  const namespace = await makeFleet(client, 1);
  const bench = new Bench(client);
  await bench.secret(namespace, validToken);
  await bench.lumigo(namespace);
  let isWorking = false;
  untilNone(client, namespace, notInstrumented).then(
    () => (isWorking = true),
    // The control plane has ended: what there is to say is said by the other one's end.
    () => undefined,
  );
  const complaint = 'the other operator instrumented nothing';
  await whenAnswering({ complaint, withinMs: READY_MS, processes: [other] }, () => isWorking);
  await client.delete(lumigoOf(namespace));
}

async function measureOne(client: Client, who: string, pid: number, count: number): Promise<Figure[]> {
  const bench = new Bench(client);
  const namespace = await makeFleet(client, count);
  await bench.secret(namespace, validToken);
  await sleep(REST_MS);
  const added = await during(pid, async () => {
    await bench.lumigo(namespace);
    return untilNone(client, namespace, notInstrumented);
  });
  await sleep(REST_MS);
  const removed = await during(pid, async () => {
    await client.delete(lumigoOf(namespace));
    return untilNone(client, namespace, labels.autoTrace);
  });
  return [
    { name: `${who}: instrumenting`, value: added.result, unit: 's' },
    { name: `${who}: CPU to instrument`, value: added.cpuSeconds, unit: 's' },
    { name: `${who}: uninstrumenting`, value: removed.result, unit: 's' },
    { name: `${who}: CPU to uninstrument`, value: removed.cpuSeconds, unit: 's' },
    { name: `${who}: peak resident`, value: usageOf(pid).peakBytes / 1e6, unit: 'MB' },
  ].map((figure) => ({ ...figure, count }));
}

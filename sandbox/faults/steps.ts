import { setTimeout as sleep } from 'node:timers/promises';
import { isConflict, isAlreadyExists, isNotFound, undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { kinds } from '../../runtime/kubernetes/resources/kinds.ts';
import { eventually } from '../testing/eventually.ts';
import type { Fleet } from './fleet.ts';
import type { FaultRun } from './fault-run.ts';

const DONE_MS = 100_000;
/** The time of a rollout for each of its workloads, in milliseconds. */
const TURN_MS = 2_000;

export async function flagAtRandom({ random }: FaultRun, { testCluster, namespace }: Fleet): Promise<void> {
  const spec = { logging: { enabled: random.chance(0.5) }, tracing: { enabled: random.chance(0.7) } };
  await testCluster.changeLumigo(namespace, { spec });
}

export const askForLogs = ({ testCluster, namespace }: Fleet): Promise<void> =>
  testCluster.changeLumigo(namespace, { spec: { logging: { enabled: true } } });

export const waitForDeletedLumigo = (faultRun: FaultRun, { testCluster, namespace }: Fleet): Promise<void> =>
  testCluster
    .deleteLumigo(namespace)
    .catch((error: unknown) => faultRun.broken(`a Lumigo was not deleted: ${String(error)}`));

/** A started API server is ready before Kubernetes' controllers work, and the judge waits for their rollouts. */
export async function waitForControllers({ testCluster }: Fleet): Promise<void> {
  const ref = { ...kinds.serviceAccounts, namespace: await testCluster.namespace('witness'), name: 'default' };
  await eventually(() => testCluster.client.get(ref), { timeoutMs: DONE_MS });
}

export async function changeSomething(faultRun: FaultRun, fleet: Fleet): Promise<void> {
  const { testCluster, namespace } = fleet;
  const lumigo = await testCluster.readLumigo(namespace).catch(undefinedIfNotFound);
  if (lumigo?.metadata.deletionTimestamp !== undefined) return;
  try {
    if (lumigo === undefined) await testCluster.lumigo(namespace);
    else if (faultRun.random.chance(0.6)) await flagAtRandom(faultRun, fleet);
    else await fleet.deleteLumigo();
  } catch (error) {
    // The `Lumigo` was deleted or changed between the read and the write.
    if (!isNotFound(error) && !isConflict(error) && !isAlreadyExists(error)) throw error;
  }
}

export interface Changes {
  readonly changes: number;
  readonly pauseMs: number;
}

export async function keepChanging(faultRun: FaultRun, fleet: Fleet, { changes, pauseMs }: Changes): Promise<void> {
  for (let change = 0; change < changes; change += 1) {
    await changeSomething(faultRun, fleet);
    await sleep(faultRun.random.between(0, pauseMs));
  }
}

export const waitForInstrumented = (
  { testbed }: FaultRun,
  { namespace }: Fleet,
  isEnough: (found: number) => boolean,
): Promise<void> =>
  eventually(
    async () => {
      const found = await testbed.reader.instrumented(namespace);
      if (!isEnough(found)) throw new Error(`${found} workloads of ${namespace} are instrumented`);
    },
    { timeoutMs: DONE_MS },
  );

/** Returns milliseconds. */
export async function instrumentAll(faultRun: FaultRun, fleet: Fleet): Promise<number> {
  await fleet.testCluster.lumigo(fleet.namespace);
  const started = Date.now();
  await waitForInstrumented(faultRun, fleet, (found) => found >= fleet.size);
  return Date.now() - started;
}

/** Creates a `Lumigo`, and waits until the work is well under way: workloads with pods are in any state of their rollout. */
export async function beginInstrumenting(faultRun: FaultRun, fleet: Fleet): Promise<void> {
  await fleet.testCluster.lumigo(fleet.namespace);
  if (fleet.running.length > 0) await waitForSomeReviews(faultRun, fleet);
  else await waitForInstrumented(faultRun, fleet, (found) => found >= fleet.size / 8);
}

/** Waits until some running workloads were changed, or one is being changed. */
export const waitForSomeReviews = ({ random }: FaultRun, { running }: Fleet): Promise<void> =>
  sleep(random.between(0, running.length * TURN_MS));

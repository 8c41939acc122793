import { setTimeout as sleep } from 'node:timers/promises';
import { isConflict, isAlreadyExists, isNotFound, undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { eventually } from '../testing/eventually.ts';
import type { Fleet } from './fleet.ts';
import type { Trial } from './trial.ts';

const DONE_MS = 60_000;
/** The time of a rollout for each of its workloads, in milliseconds. */
const TURN_MS = 2_000;

export async function flagAtRandom({ random }: Trial, { bench, namespace }: Fleet): Promise<void> {
  const spec = { logging: { enabled: random.chance(0.5) }, tracing: { enabled: random.chance(0.7) } };
  await bench.changeLumigo(namespace, { spec });
}

export const askForLogs = ({ bench, namespace }: Fleet): Promise<void> =>
  bench.changeLumigo(namespace, { spec: { logging: { enabled: true } } });

export const whenLumigoDeleted = (trial: Trial, { bench, namespace }: Fleet): Promise<void> =>
  bench.deleteLumigo(namespace).catch(() => trial.broken('a Lumigo was still there a minute after its deletion'));

export async function changeSomething(trial: Trial, fleet: Fleet): Promise<void> {
  const { bench, namespace } = fleet;
  const lumigo = await bench.readLumigo(namespace).catch(undefinedIfNotFound);
  if (lumigo?.metadata.deletionTimestamp !== undefined) return;
  try {
    if (lumigo === undefined) await bench.lumigo(namespace);
    else if (trial.random.chance(0.6)) await flagAtRandom(trial, fleet);
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

export async function keepChanging(trial: Trial, fleet: Fleet, { changes, pauseMs }: Changes): Promise<void> {
  for (let change = 0; change < changes; change += 1) {
    await changeSomething(trial, fleet);
    await sleep(trial.random.between(0, pauseMs));
  }
}

export async function whenInstrumented(
  { testbed }: Trial,
  { namespace }: Fleet,
  isEnough: (found: number) => boolean,
): Promise<number> {
  const started = Date.now();
  await eventually(
    async () => {
      const found = await testbed.reader.instrumented(namespace);
      if (!isEnough(found)) throw new Error(`${found} workloads of ${namespace} are instrumented`);
    },
    { timeoutMs: DONE_MS },
  );
  return Date.now() - started;
}

export async function instrumentAll(trial: Trial, fleet: Fleet): Promise<number> {
  await fleet.bench.lumigo(fleet.namespace);
  return whenInstrumented(trial, fleet, (found) => found >= fleet.size);
}

/** Creates a `Lumigo`, and waits until the work is well under way: workloads with pods are in any state of their rollout. */
export async function beginInstrumenting(trial: Trial, fleet: Fleet): Promise<void> {
  await fleet.bench.lumigo(fleet.namespace);
  if (fleet.running.length > 0) await someTurns(trial, fleet);
  else await whenInstrumented(trial, fleet, (found) => found >= fleet.size / 8);
}

/** Waits until some running workloads were changed, or one is being changed. */
export const someTurns = ({ random }: Trial, { running }: Fleet): Promise<void> =>
  sleep(random.between(0, running.length * TURN_MS));

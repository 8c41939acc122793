import { setTimeout as sleep } from 'node:timers/promises';
import { lumigo as contract } from '../../runtime/contract.ts';
import { isConflict, isAlreadyExists, isNotFound, undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { eventually } from '../testing/eventually.ts';
import type { Fleet } from './fleet.ts';
import type { OperatorRequest } from './history.ts';
import type { Trial } from './scenario.ts';

const DONE_MS = 60_000;
/** Time of a rollout for each of its workloads, in milliseconds. */
const TURN_MS = 2_000;

/** Changes what a Lumigo asks for, or not. */
export async function flagAtRandom({ random }: Trial, { bench, namespace }: Fleet): Promise<void> {
  const spec = { logging: { enabled: random.chance(0.5) }, tracing: { enabled: random.chance(0.7) } };
  await bench.changeLumigo(namespace, { spec });
}

/** Deletes a Lumigo, and says it where that does not end. */
export const deleteLumigo = (trial: Trial, { bench, namespace }: Fleet): Promise<void> =>
  bench.deleteLumigo(namespace).catch(() => trial.broken('a Lumigo was still there a minute after its deletion'));

/** Creates, changes or deletes a Lumigo, whichever is possible at the moment. */
export async function changeSomething(trial: Trial, fleet: Fleet): Promise<void> {
  const { bench, namespace } = fleet;
  const lumigo = await bench.readLumigo(namespace).catch(undefinedIfNotFound);
  if (lumigo?.metadata.deletionTimestamp !== undefined) return;
  try {
    if (lumigo === undefined) await bench.lumigo(namespace);
    else if (trial.random.chance(0.6)) await flagAtRandom(trial, fleet);
    else await bench.client.delete({ ...contract, namespace, name: 'lumigo' });
  } catch (error) {
    // It went or changed between the look and the deed.
    if (!isNotFound(error) && !isConflict(error) && !isAlreadyExists(error)) throw error;
  }
}

interface Changes {
  readonly changes: number;
  /** The longest pause after a change. */
  readonly pauseMs: number;
}

/** Changes something again and again, with pauses. */
export async function keepChanging(trial: Trial, fleet: Fleet, { changes, pauseMs }: Changes): Promise<void> {
  for (let change = 0; change < changes; change += 1) {
    await changeSomething(trial, fleet);
    await sleep(trial.random.between(0, pauseMs));
  }
}

/** Waits until so many workloads are instrumented; resolves with the milliseconds that took. @throws Error after a minute. */
export const whenInstrumented = (fleet: Fleet, atLeast: number): Promise<number> =>
  whenCounted(fleet, (found) => found >= atLeast, `${atLeast} are`);

/** Waits until no workload is instrumented any more; resolves with the milliseconds that took. @throws Error after a minute. */
export const whenNoneInstrumented = (fleet: Fleet): Promise<number> =>
  whenCounted(fleet, (found) => found === 0, 'none is');

async function whenCounted(fleet: Fleet, isEnough: (found: number) => boolean, wanted: string): Promise<number> {
  const started = Date.now();
  await eventually(
    async () => {
      const found = await fleet.instrumented();
      if (!isEnough(found))
        throw new Error(`${found} workloads of ${fleet.namespace} are instrumented, where ${wanted} awaited`);
    },
    { timeoutMs: DONE_MS, intervalMs: 20 },
  );
  return Date.now() - started;
}

/** Creates a Lumigo, and returns when the work is well under way: with pods, in any state of their rollouts. */
export async function beginInstrumenting({ random }: Trial, fleet: Fleet): Promise<void> {
  await fleet.bench.lumigo(fleet.namespace);
  if (fleet.running.length > 0) await someTurns(random, fleet);
  else await whenInstrumented(fleet, Math.ceil(fleet.size / 8));
}

/** Waits until some of the workloads that run have had their turn, or one is in the midst of it. */
export const someTurns = (random: Trial['random'], { running }: Fleet): Promise<void> =>
  sleep(random.between(0, running.length * TURN_MS));

/** Resources that a replica writes without the lead: it stands for election, and gets the token of its telemetry proxy, which changes nothing. */
const unled: ReadonlySet<string> = new Set(['leases', 'serviceaccounts/token']);
const writing: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete']);

/** Writes of the leader's work that one of the managers sent from some moment on, whether or not the API server took them. */
export const writesOf = (trial: Trial, credential: string, sinceMs: number): OperatorRequest[] =>
  trial
    .history()
    .requests.filter(
      (request) =>
        request.credential === credential &&
        request.atMs >= sinceMs &&
        !unled.has(request.resource) &&
        writing.has(request.verb),
    );

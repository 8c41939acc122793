import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Fleet } from './fleet.ts';
import { beginInstrumenting, changeSomething, flagAtRandom, whenLumigoDeleted } from './steps.ts';
import type { Trial } from './trial.ts';

const preload = fileURLToPath(new URL('shift-clock.mjs', import.meta.url));
/** Each round is judged, because the next one would hide leftovers without a `Lumigo`. */
const ROUND_MS = 5_000;

/** @param size `pauseMs`: the longest pause between two changes */
export async function lumigoChanges(trial: Trial, fleet: Fleet, size: { rounds: number; pauseMs: number }) {
  const { random, testbed } = trial;
  const pause = () => sleep(random.between(0, size.pauseMs));
  let left = 0;
  for (let round = 1; round <= size.rounds; round += 1) {
    await fleet.bench.lumigo(fleet.namespace);
    for (let changes = random.between(1, 3); changes > 0; changes -= 1) {
      await pause();
      if (random.chance(0.8)) await flagAtRandom(trial, fleet);
      const name = fleet.names[random.between(0, fleet.names.length - 1)] ?? '';
      if (random.chance(0.5)) await fleet.deploy(name, `app:${random.between(2, 9)}`);
    }
    await pause();
    await whenLumigoDeleted(trial, fleet);
    await trial.rest(ROUND_MS);
    left += await testbed.reader.instrumented(fleet.namespace);
  }
  if (left > 0)
    trial.broken(`${left} workloads stayed instrumented 5 s after their Lumigo was deleted, over all rounds`);
  await fleet.bench.lumigo(fleet.namespace);
  await pause();
  await flagAtRandom(trial, fleet);
}

/** @param size `worksMs`: the longest time that a manager works before it is killed */
export async function killed(trial: Trial, fleet: Fleet, { kills, worksMs }: { kills: number; worksMs: number }) {
  const { operator } = trial.testbed;
  for (let kill = 1; kill <= kills; kill += 1) {
    await changeSomething(trial, fleet);
    await sleep(trial.random.between(0, worksMs));
    await operator.killManager();
    await operator.startManager();
  }
}

export const clockShifted = (shiftMs: number) => async (trial: Trial, fleet: Fleet) => {
  const { operator, reader } = trial.testbed;
  await beginInstrumenting(trial, fleet);
  await operator.stopManager();
  await operator.startManager({
    environment: { NODE_OPTIONS: `--import=${preload}`, CLOCK_SHIFT_MS: String(shiftMs) },
  });
  try {
    await flagAtRandom(trial, fleet);
    await trial.rest();
    await whenLumigoDeleted(trial, fleet);
    const left = await reader.instrumented(fleet.namespace);
    if (left > 0) trial.broken(`the Lumigo was deleted with ${left} workloads instrumented`);
    await trial.rest();
  } finally {
    await operator.killManager();
    await operator.startManager();
  }
};

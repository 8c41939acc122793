import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Fleet } from './fleet.ts';
import { beginInstrumenting, changeSomething, flagAtRandom, waitForDeletedLumigo } from './steps.ts';
import type { FaultRun } from './fault-run.ts';

const preload = fileURLToPath(new URL('shift-clock.mjs', import.meta.url));
/** Each round is judged, because the next one would hide leftovers without a `Lumigo`. */
const ROUND_MS = 5_000;

/** @param size `pauseMs`: the longest pause between two changes */
export async function lumigoChanges(faultRun: FaultRun, fleet: Fleet, size: { rounds: number; pauseMs: number }) {
  const { random, testbed } = faultRun;
  const pause = () => sleep(random.between(0, size.pauseMs));
  let left = 0;
  for (let round = 1; round <= size.rounds; round += 1) {
    await fleet.testCluster.lumigo(fleet.namespace);
    for (let changes = random.between(1, 3); changes > 0; changes -= 1) {
      await pause();
      if (random.chance(0.8)) await flagAtRandom(faultRun, fleet);
      const name = fleet.names[random.between(0, fleet.names.length - 1)] ?? '';
      if (random.chance(0.5)) await fleet.deploy(name, `app:${random.between(2, 9)}`);
    }
    await pause();
    await waitForDeletedLumigo(faultRun, fleet);
    await faultRun.rest(ROUND_MS);
    left += await testbed.reader.instrumented(fleet.namespace);
  }
  if (left > 0)
    faultRun.broken(`${left} workloads stayed instrumented 5 s after their Lumigo was deleted, over all rounds`);
  await fleet.testCluster.lumigo(fleet.namespace);
  await pause();
  await flagAtRandom(faultRun, fleet);
}

/** @param size `worksMs`: the longest time that a manager works before it is killed */
export async function killed(faultRun: FaultRun, fleet: Fleet, { kills, worksMs }: { kills: number; worksMs: number }) {
  const { operator } = faultRun.testbed;
  for (let kill = 1; kill <= kills; kill += 1) {
    await changeSomething(faultRun, fleet);
    await sleep(faultRun.random.between(0, worksMs));
    await operator.killManager();
    await operator.startManager();
  }
}

export const clockShifted = (shiftMs: number) => async (faultRun: FaultRun, fleet: Fleet) => {
  const { operator, reader } = faultRun.testbed;
  await beginInstrumenting(faultRun, fleet);
  await operator.stopManager();
  await operator.startManager({
    environment: { NODE_OPTIONS: `--import=${preload}`, CLOCK_SHIFT_MS: String(shiftMs) },
  });
  try {
    await flagAtRandom(faultRun, fleet);
    await faultRun.rest();
    await waitForDeletedLumigo(faultRun, fleet);
    const left = await reader.instrumented(fleet.namespace);
    if (left > 0) faultRun.broken(`the Lumigo was deleted with ${left} workloads instrumented`);
    await faultRun.rest();
  } finally {
    await operator.killManager();
    await operator.startManager();
  }
};

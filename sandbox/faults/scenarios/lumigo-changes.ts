import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../fleet.ts';
import { deleteLumigo, flagAtRandom } from '../steps.ts';
import { scenarioOf, type Trial } from '../scenario.ts';

/** F1: what is decided under one state of the Lumigo settles nothing under another. */
export const lumigoChanges = scenarioOf({
  name: 'lumigo-changes',
  holds: 'F1: a Lumigo that is created, changed and deleted at random moments of bulk work leaves nothing behind',
  // `pauseMs`: the longest pause between two changes.
  pods: true,
  short: { workloads: 60, rounds: 5, pauseMs: 1_000 },
  full: { workloads: 500, rounds: 50, pauseMs: 2_500 },
  async run(trial, { workloads, rounds, pauseMs }) {
    const fleet = await trial.fleet(workloads);
    let left = 0;
    for (let round = 1; round <= rounds; round += 1) {
      await changeAtRandom(trial, fleet, pauseMs);
      await deleteLumigo(trial, fleet);
      // What stays where no Lumigo is, is judged each time: the next round would cover it.
      await trial.rest(5_000);
      const stays = await fleet.instrumented();
      left += stays;
      if (stays > 0 || round % 5 === 0) trial.say(`round ${round} of ${rounds}: ${stays} of ${workloads} stay behind`);
    }
    trial.figure('instrumented without a Lumigo, over all rounds', left);
    if (left > 0)
      trial.broken(`${left} workloads stayed instrumented 5 s after their Lumigo was gone, over all rounds`);
    await fleet.bench.lumigo(fleet.namespace);
    await sleep(trial.random.between(0, pauseMs));
    await flagAtRandom(trial, fleet);
  },
});

async function changeAtRandom(trial: Trial, fleet: Fleet, pauseMs: number): Promise<void> {
  const { random } = trial;
  await fleet.bench.lumigo(fleet.namespace);
  for (let changes = random.between(1, 3); changes > 0; changes -= 1) {
    await sleep(random.between(0, pauseMs));
    if (random.chance(0.8)) await flagAtRandom(trial, fleet);
    if (random.chance(0.5)) await fleet.deploy(pick(trial, fleet), `app:${random.between(2, 9)}`);
  }
  await sleep(random.between(0, pauseMs));
}

const pick = ({ random }: Trial, { names }: Fleet): string => names[random.between(0, names.length - 1)] ?? '';

import { setTimeout as sleep } from 'node:timers/promises';
import { scenarioOf } from '../scenario.ts';
import { changeSomething } from '../steps.ts';

export const killed = scenarioOf({
  name: 'killed',
  holds: 'a manager that is killed at random instants of bulk work loses nothing and repeats nothing',
  // `worksMs`: the longest time that a manager works before it is killed.
  pods: true,
  short: { workloads: 60, kills: 5, worksMs: 4_000 },
  full: { workloads: 300, kills: 50, worksMs: 8_000 },
  async run(trial, { workloads, kills, worksMs }) {
    const { operator, random } = trial;
    const fleet = await trial.fleet(workloads);
    for (let kill = 1; kill <= kills; kill += 1) {
      await changeSomething(trial, fleet);
      await sleep(random.between(0, worksMs));
      await operator.killManager();
      await operator.startManager();
      if (kill % 10 === 0) trial.say(`killed ${kill} times of ${kills}`);
    }
  },
});

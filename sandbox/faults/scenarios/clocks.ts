import { fileURLToPath } from 'node:url';
import { scenarioOf } from '../scenario.ts';
import { beginInstrumenting, deleteLumigo, flagAtRandom } from '../steps.ts';

const preload = fileURLToPath(new URL('../shift-clock.mjs', import.meta.url));

const shifted = (name: string, shiftMs: number, says: string) =>
  scenarioOf({
    name,
    holds: `F3, F76: a manager whose clock is two minutes ${says} removes all that it added, and tells each change once`,
    pods: true,
    short: { workloads: 60 },
    full: { workloads: 1_000 },
    async run(trial, { workloads }) {
      const { operator } = trial;
      const fleet = await trial.fleet(workloads);
      await beginInstrumenting(trial, fleet);
      await operator.stopManager();
      await operator.startManager({
        environment: { NODE_OPTIONS: `--import=${preload}`, CLOCK_SHIFT_MS: String(shiftMs) },
      });
      try {
        await flagAtRandom(trial, fleet);
        await trial.rest();
        await deleteLumigo(trial, fleet);
        const left = await fleet.instrumented();
        trial.figure('instrumented when the Lumigo was gone', left);
        if (left > 0) trial.broken(`the Lumigo was gone with ${left} of ${workloads} workloads instrumented`);
        await trial.rest();
      } finally {
        await operator.killManager();
        await operator.startManager();
      }
    },
  });

const SHIFT_MS = 120_000;

export const clockAhead = shifted('clock-ahead', SHIFT_MS, 'ahead');
export const clockBehind = shifted('clock-behind', -SHIFT_MS, 'behind');

import { setTimeout as sleep } from 'node:timers/promises';
import type { Interference } from '../api-proxy.ts';
import { scenarioOf, type Trial } from '../scenario.ts';
import { keepChanging } from '../steps.ts';

const EVERY_MS = 200;

export const watchesCut = scenarioOf({
  name: 'watches-cut',
  holds: 'watches that break at random moments miss nothing',
  pods: true,
  short: { workloads: 60, changes: 5, pauseMs: 3_000 },
  full: { workloads: 500, changes: 30, pauseMs: 4_000 },
  async run(trial, parameters) {
    let cut = 0;
    const cutting = setInterval(() => (cut += trial.proxy.cutWatches(() => trial.random.chance(0.2))), EVERY_MS);
    try {
      await keepChanging(trial, await trial.fleet(parameters.workloads), parameters);
    } finally {
      clearInterval(cutting);
    }
    trial.figure('watches cut', cut);
  },
});

/** Changes things while something happens to the answers of writes; the Lease is left alone. */
async function changeWhile(
  trial: Trial,
  parameters: Parameters<typeof keepChanging>[2] & { readonly workloads: number },
  interfere: () => Interference | undefined,
): Promise<void> {
  const fleet = await trial.fleet(parameters.workloads);
  trial.proxy.interfere = ({ isWrite, path }) => (isWrite && !path.includes('/leases/') ? interfere() : undefined);
  await keepChanging(trial, fleet, parameters);
}

const LATEST_MS = 1_500;

export const lateAnswers = scenarioOf({
  name: 'late-answers',
  holds: 'F6: answers to writes that come later than newer events of the watch take nothing back',
  pods: true,
  short: { workloads: 60, changes: 5, pauseMs: 3_000 },
  full: { workloads: 500, changes: 30, pauseMs: 4_000 },
  run: (trial, parameters) =>
    changeWhile(trial, parameters, () => {
      if (trial.random.chance(0.5)) return undefined;
      const lateMs = trial.random.between(0, LATEST_MS);
      return { holdAnswer: () => sleep(lateMs) };
    }),
});

/** Long enough for the watch to show what was written before its answer breaks off. */
const SHOWN_MS = 150;

export const lostAnswers = scenarioOf({
  name: 'lost-answers',
  holds: 'what was written is told once, although the watch has shown it and its answer breaks off',
  pods: true,
  short: { workloads: 40, changes: 6, pauseMs: 4_000 },
  full: { workloads: 300, changes: 20, pauseMs: 8_000 },
  run: (trial, parameters) =>
    changeWhile(trial, parameters, () =>
      trial.random.chance(0.7) ? undefined : { holdAnswer: () => sleep(SHOWN_MS), cutBody: true },
    ),
});

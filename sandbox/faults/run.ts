import { describeError } from '../../runtime/wording/errors.ts';
import type { Manager } from '../manager/manager.ts';
import { isAlive } from '../testing/run.ts';
import { tidy, type Arena } from './arena.ts';
import { BOUND_MS, Trial, type RunOptions, type Scenario, type Verdict } from './scenario.ts';

const DETAILS = 12;

/** Brings a fault about, waits until things rest, takes every injection out again, and says what it all came to. */
export async function runScenario(arena: Arena, scenario: Scenario, options: RunOptions): Promise<Verdict> {
  const { random, size } = options;
  const started = Date.now();
  const trial = new Trial(arena, scenario, options);
  const { judge, others, figures, problems: broken } = trial;
  const attempt = <T>(what: string, action: () => Promise<T>): Promise<T | undefined> =>
    action().catch((error: unknown) => {
      broken.push(`${what} ended early: ${describeError(error)}`);
      return undefined;
    });

  await attempt('the fault', () => scenario.run(trial, size));
  await attempt('tidying up', async () => {
    for (const other of others) await end(other);
    await tidy(arena);
  });
  const findings = [
    await attempt('coming to rest', () => judge.settle(BOUND_MS[size])),
    await attempt('taking out', () => judge.takeOut(BOUND_MS[size])),
  ].filter((each) => each !== undefined);
  for (const fleet of judge.fleets) {
    for (const name of fleet.interrupted()) broken.push(`${name} had fewer pods than a rollout leaves`);
    await attempt('clearing away', () => fleet.delete());
  }
  const { amiss, ...counted } = judge.counted();
  return {
    name: scenario.name,
    seed: random.seed,
    seconds: Math.round((Date.now() - started) / 1_000),
    lost: findings.reduce((sum, { lost }) => sum + lost.length, 0),
    stuck: findings.reduce((sum, { stuck }) => sum + stuck.length, 0),
    details: findings.flatMap(({ lost, stuck }) => [...stuck, ...lost].slice(0, DETAILS)),
    ...counted,
    requests: judge.requests(),
    broken,
    figures: { ...figures, ...Object.fromEntries(amiss) },
  };
}

/** A stopped process does not hear that it is to end. */
async function end(manager: Manager): Promise<void> {
  if (isAlive(manager.pid)) process.kill(manager.pid, 'SIGCONT');
  await manager.stop();
}

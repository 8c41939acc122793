import { describeError } from '../../runtime/wording/errors.ts';
import type { Manager } from '../manager/manager.ts';
import { tidy, type Arena } from './arena.ts';
import { Fleet } from './fleet.ts';
import { History } from './history.ts';
import { Judge } from './judge.ts';
import type { Random } from './random.ts';
import { injectorSettings, type Findings } from './rest.ts';
import type { Scenario, Size, Trial, Verdict } from './scenario.ts';

export interface RunOptions {
  readonly size: Size;
  readonly random: Random;
  readonly say: (line: string) => void;
}

/** How long everything may take to be as it should be, once the fault is over. */
const BOUND_MS = { short: 45_000, full: 90_000 };
const DETAILS = 12;

const histories = new WeakMap<Arena, History>();

function historyOf(arena: Arena): History {
  const { cluster, installation } = arena.operator;
  const known = histories.get(arena) ?? new History(cluster.auditLog, installation.settings);
  histories.set(arena, known);
  return known;
}

/** Brings a fault about, waits until things rest, takes every injection out again, and says what it all came to. */
export async function runScenario(arena: Arena, scenario: Scenario, options: RunOptions): Promise<Verdict> {
  const { random, say, size } = options;
  const started = Date.now();
  const judge = new Judge(historyOf(arena), injectorSettings(arena.operator.installation));
  const fleets: Fleet[] = [];
  const others: Manager[] = [];
  const broken: string[] = [];
  const figures: Record<string, number> = {};
  const trial: Trial = {
    ...arena,
    random,
    say: (line) => say(`${scenario.name}: ${line}`),
    async fleet(count, workload) {
      const { bench } = arena.operator;
      const fleet = new Fleet(bench, await bench.namespace('fault'));
      await bench.secret(fleet.namespace);
      fleets.push(fleet);
      judge.add(fleet);
      await fleet.fill(count, workload);
      return fleet;
    },
    async another() {
      const manager = await arena.operator.startAnother();
      others.push(manager);
      return manager;
    },
    rest: (boundMs = BOUND_MS[size]) => judge.settle(boundMs).then(() => undefined),
    countFromHere: () => judge.begin(),
    history: () => historyOf(arena).refresh(),
    broken: (what) => void broken.push(what),
    figure: (name, value) => void (figures[name] = value),
  };
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
  ].filter((each): each is Findings => each !== undefined);
  for (const fleet of fleets) await attempt('clearing away', () => fleet.delete());
  const { amiss, ...counted } = judge.counted();
  return {
    name: scenario.name,
    seed: random.seed,
    seconds: Math.round((Date.now() - started) / 1_000),
    ...sumOf(findings),
    ...counted,
    requests: judge.requests(),
    broken,
    figures: { ...figures, ...Object.fromEntries(amiss) },
  };
}

/** A stopped process does not hear that it is to end. */
async function end(manager: Manager): Promise<void> {
  try {
    process.kill(manager.pid, 'SIGCONT');
  } catch {
    // It is gone already.
  }
  await manager.stop();
}

const sumOf = (findings: readonly Findings[]): Pick<Verdict, 'lost' | 'stuck' | 'details'> => ({
  lost: findings.reduce((sum, { lost }) => sum + lost.length, 0),
  stuck: findings.reduce((sum, { stuck }) => sum + stuck.length, 0),
  details: findings.flatMap(({ lost, stuck }) => [...stuck, ...lost].slice(0, DETAILS)),
});

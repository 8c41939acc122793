import type { Manager } from '../manager/manager.ts';
import type { WorkloadOptions } from '../testing/workloads.ts';
import type { Arena } from './arena.ts';
import type { Counted } from './count.ts';
import { Fleet } from './fleet.ts';
import type { History } from './history.ts';
import { Judge } from './judge.ts';
import type { Random } from './random.ts';
import { injectorSettings } from './rest.ts';

export type Size = 'short' | 'full';

export interface RunOptions {
  readonly size: Size;
  readonly random: Random;
  readonly say: (line: string) => void;
}

/** How long everything may take to be as it should be, once the fault is over. */
export const BOUND_MS = { short: 45_000, full: 90_000 };
/** How many workloads of a fleet run, in scenarios with pods. */
const RUNNING = { short: 4, full: 12 };

/** What a scenario works with. */
export class Trial {
  readonly operator;
  readonly proxy;
  readonly etcd;
  readonly credentialOf;
  readonly random;
  readonly judge: Judge;
  readonly others: Manager[] = [];
  readonly problems: string[] = [];
  readonly figures: Record<string, number> = {};

  constructor(
    private readonly arena: Arena,
    private readonly scenario: Scenario,
    private readonly options: RunOptions,
  ) {
    ({ operator: this.operator, proxy: this.proxy, etcd: this.etcd, credentialOf: this.credentialOf } = arena);
    this.random = options.random;
    // Else all scenarios of one seed would begin with the same choice.
    for (let letter = 0; letter < scenario.name.length; letter += 1) this.random.chance(1);
    this.judge = new Judge(arena.log, injectorSettings(arena.operator.installation));
  }

  say = (line: string): void => this.options.say(`${this.scenario.name}: ${line}`);

  /** A namespace with so many Deployments, and the Secret that a Lumigo there names. What becomes of them is judged. */
  async fleet(count: number, workload?: WorkloadOptions): Promise<Fleet> {
    const { bench } = this.operator;
    const fleet = new Fleet(bench, await bench.namespace('fault'));
    await bench.secret(fleet.namespace);
    this.judge.fleets.push(fleet);
    const running = this.scenario.pods === true ? RUNNING[this.options.size] : 0;
    if (running > 0) await fleet.run(running);
    await fleet.fill(count - running, workload);
    return fleet;
  }

  /** A second manager, which is ended with the scenario. */
  async another(): Promise<Manager> {
    const manager = await this.operator.startAnother();
    this.others.push(manager);
    return manager;
  }

  /** Waits until everything is as it should be; the time being up is no failure yet, since the verdict looks again. */
  rest = async (boundMs = BOUND_MS[this.options.size]): Promise<void> => void (await this.judge.settle(boundMs));

  /** Forgets what happened until now: what there is stands as it is, and is counted from here. */
  countFromHere = (): Promise<void> => this.judge.begin();

  history = (): History => this.arena.log.refresh();

  /** Something that has to hold does not, in one sentence. */
  broken = (what: string): void => void this.problems.push(what);

  /** A figure for the report. */
  figure = (name: string, value: number): void => void (this.figures[name] = value);
}

/** One fault. */
export interface Scenario {
  readonly name: string;
  /** The sentence that the verdict is about. */
  readonly holds: string;
  /** Whether some of the workloads run: pods are made, are ready, and in one workload crash with the injection. */
  readonly pods?: true;
  readonly run: (trial: Trial, size: Size) => Promise<void>;
}

/** One fault in two sizes: for each day, and for a long look. */
interface SizedScenario<P> extends Omit<Scenario, 'run'>, Readonly<Record<Size, P>> {
  readonly run: (trial: Trial, parameters: P) => Promise<void>;
}

export const scenarioOf = <P>({ run, ...scenario }: SizedScenario<P>): Scenario => ({
  ...scenario,
  run: (trial, size) => run(trial, scenario[size]),
});

/** The result of a scenario. All counts but `requests`, `warnings` and the figures have to be 0. */
export interface Verdict extends Omit<Counted, 'amiss'> {
  readonly name: string;
  readonly seed: number;
  readonly seconds: number;
  readonly lost: number;
  readonly stuck: number;
  readonly requests: number;
  readonly broken: readonly string[];
  /** The first of what is lost and stuck. */
  readonly details: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

export const faultsOf = (verdict: Verdict): number =>
  verdict.lost + verdict.toldTwice + verdict.untold + verdict.restarted + verdict.stuck + verdict.broken.length;

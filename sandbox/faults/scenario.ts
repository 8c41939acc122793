import type { Manager } from '../manager/manager.ts';
import type { WorkloadOptions } from '../testing/workloads.ts';
import type { Arena } from './arena.ts';
import type { Counted } from './count.ts';
import type { Fleet } from './fleet.ts';
import type { History } from './history.ts';
import type { Random } from './random.ts';

/** What a scenario works with. */
export interface Trial extends Arena {
  readonly random: Random;
  readonly say: (line: string) => void;
  /** A namespace with so many Deployments, and the Secret that a Lumigo there names. What becomes of them is judged. */
  fleet(count: number, options?: WorkloadOptions): Promise<Fleet>;
  /** A second manager, which is ended with the scenario. */
  another(): Promise<Manager>;
  /** Waits until everything is as it should be; the time being up is no failure yet, since the verdict looks again. */
  rest(boundMs?: number): Promise<void>;
  /** Forgets what happened until now: what there is stands as it is, and is counted from here. */
  countFromHere(): Promise<void>;
  history(): History;
  /** Something that has to hold does not, in one sentence. */
  broken(what: string): void;
  /** A figure for the report. */
  figure(name: string, value: number): void;
}

export type Size = 'short' | 'full';

/** One fault. */
export interface Scenario {
  readonly name: string;
  /** The sentence that the verdict is about. */
  readonly holds: string;
  readonly run: (trial: Trial, size: Size) => Promise<void>;
}

/** One fault in two sizes: for each day, and for a long look. */
interface SizedScenario<P> extends Omit<Scenario, 'run'>, Readonly<Record<Size, P>> {
  readonly run: (trial: Trial, parameters: P) => Promise<void>;
}

export const scenarioOf = <P>({ name, holds, run, ...sizes }: SizedScenario<P>): Scenario => ({
  name,
  holds,
  run: (trial, size) => run(trial, sizes[size]),
});

/** What a scenario came to. All counts but `requests`, `warnings` and the figures have to be 0. */
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

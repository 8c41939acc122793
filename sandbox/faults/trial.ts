import { setTimeout as sleep } from 'node:timers/promises';
import { injectorOf } from '../../runtime/config/config.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Manager } from '../manager/manager.ts';
import { isAlive } from '../run.ts';
import type { WorkloadOptions } from '../testing/workloads.ts';
import { Fleet } from './fleet.ts';
import { inspect } from './inspect.ts';
import { countBetween, isWarning, lookAt, nothingYet, type Look } from './look.ts';
import type { Random } from './random.ts';
import type { Testbed } from './testbed.ts';

export interface Verdict {
  /** A sentence for each case that must not be. It begins with its kind: `lost: …`. */
  readonly findings: readonly string[];
  /** For comparison only. */
  readonly figures: Readonly<Record<string, number>>;
}

interface TrialOptions {
  /** The number of workloads with pods in each fleet. */
  readonly running: number;
  /** The longest time until everything is as it should be after the fault. */
  readonly boundMs: number;
  readonly random: Random;
}

const POLL_MS = 400;
/** After this time without a write, nothing more follows. */
const QUIET_MS = 2_000;

/** One fault: what it works with, and what becomes of its fleets. */
export class Trial {
  readonly random: Random;
  readonly figures: Record<string, number> = {};
  private readonly fleets: Fleet[] = [];
  private readonly others: Manager[] = [];
  private readonly findings: string[] = [];
  private readonly beganAt = Date.now();
  /** By namespace: when the counting began, and now. */
  private start = new Map<string, Look>();
  private now = new Map<string, Look>();

  constructor(
    readonly testbed: Testbed,
    private readonly options: TrialOptions,
  ) {
    this.random = options.random;
  }

  /** Creates a namespace with Deployments, and the Secret that a Lumigo there names. The verdict is about them. */
  async fleet(count: number, workload?: WorkloadOptions): Promise<Fleet> {
    const { bench } = this.testbed.operator;
    const fleet = new Fleet(bench, await bench.namespace('fault'));
    await bench.secret(fleet.namespace);
    this.fleets.push(fleet);
    const running = Math.min(count, this.options.running);
    if (running > 0) await fleet.run(running);
    await fleet.fill(count - running, workload);
    return fleet;
  }

  /** Starts a second manager, which ends with the trial. */
  async another(): Promise<Manager> {
    const manager = await this.testbed.operator.startAnother();
    this.others.push(manager);
    return manager;
  }

  /** Something that must hold does not, in one sentence. */
  broken = (sentence: string): void => void this.findings.push(`broken: ${sentence}`);

  /** Ignores everything until now. */
  countFromHere = async (): Promise<void> => void (this.start = await this.lookAround());

  /**
   * Waits until everything is as it should be and nothing is written any more, or the time is over. While the operator writes, it
   * waits at most for twice the time. Returns the findings.
   */
  async rest(boundMs = this.options.boundMs): Promise<readonly string[]> {
    for (const deadline = Date.now() + boundMs; ; await sleep(POLL_MS)) {
      const isLast = Date.now() > deadline && (this.isQuiet() || Date.now() > deadline + boundMs);
      if (!isLast && !this.isQuiet()) continue;
      const findings = await this.judge();
      if (isLast || (this.isQuiet() && !findings.some((each) => /^(lost|stuck|unreported)/.test(each))))
        return findings;
    }
  }

  /** Injects the fault, waits for rest, removes every injection, and judges. */
  async verdict(fault: () => Promise<unknown>): Promise<Verdict> {
    try {
      await fault().finally(() => this.tidy());
      // The history is judged at the end.
      this.findings.push(...(await this.rest()).filter((each) => /^(lost|stuck)/.test(each)));
      for (const fleet of this.fleets) await fleet.deleteLumigo().catch(undefinedIfNotFound);
      for (const fleet of this.fleets) fleet.exempt.clear();
      await this.rest();
      this.findings.push(...(await this.judge()));
      for (const name of this.fleets.flatMap((fleet) => fleet.interrupted()))
        this.broken(`${name} had fewer pods than a rollout leaves`);
    } finally {
      for (const fleet of this.fleets) await fleet.delete();
    }
    const { requests } = this.testbed.history.refresh();
    return {
      findings: this.findings,
      figures: {
        seconds: Math.round((Date.now() - this.beganAt) / 1_000),
        requests: requests.filter(({ atMs }) => atMs >= this.beganAt).length,
        warnings: [...this.now.values()].flatMap(({ events }) => events.filter(isWarning)).length,
        ...this.figures,
      },
    };
  }

  /** A stopped process does not hear that it must end. */
  private async tidy(): Promise<void> {
    for (const other of this.others) {
      if (isAlive(other.pid)) process.kill(other.pid, 'SIGCONT');
      await other.stop();
    }
    await this.testbed.tidy();
  }

  private async lookAround(): Promise<Map<string, Look>> {
    const looks = new Map<string, Look>();
    for (const { namespace } of this.fleets) looks.set(namespace, await lookAt(this.testbed.reader, namespace));
    return looks;
  }

  private async judge(): Promise<string[]> {
    const { history, operator } = this.testbed;
    this.now = await this.lookAround();
    history.refresh();
    return this.fleets.flatMap((fleet) => {
      const [start = nothingYet, now = nothingYet] = [this.start, this.now].map((all) => all.get(fleet.namespace));
      const injector = injectorOf(operator.installation.config);
      return [...inspect(fleet, now, injector), ...countBetween(start, now, fleet, history)];
    });
  }

  private isQuiet(): boolean {
    const last = this.testbed.history.refresh().writes.findLast(({ byOperator }) => byOperator);
    return last === undefined || Date.now() - last.atMs > QUIET_MS;
  }
}

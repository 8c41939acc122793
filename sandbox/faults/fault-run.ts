import { setTimeout as sleep } from 'node:timers/promises';
import { toInjector } from '../../runtime/config/config.ts';
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
  /** Sentences about violations, which begin with their kind: `lost: …`. */
  readonly findings: readonly string[];
  readonly figures: Readonly<Record<string, number>>;
}

interface FaultRunOptions {
  readonly running: number;
  /** The longest time from the fault until the state is correct. */
  readonly boundMs: number;
  readonly random: Random;
}

const POLL_MS = 400;
/** After this time without a write, no other follows. */
const QUIET_MS = 2_000;

export class FaultRun {
  readonly random: Random;
  readonly figures: Record<string, number> = {};
  private readonly fleets: Fleet[] = [];
  private readonly others: Manager[] = [];
  private readonly findings: string[] = [];
  private readonly beganAt = Date.now();
  private start = new Map<string, Look>();
  private now = new Map<string, Look>();

  constructor(
    readonly testbed: Testbed,
    private readonly options: FaultRunOptions,
  ) {
    this.random = options.random;
  }

  /** Creates a namespace with Deployments, which the verdict is about, and the Secret of a `Lumigo`. */
  async fleet(count: number, workload?: WorkloadOptions): Promise<Fleet> {
    const { testCluster } = this.testbed.operator;
    const fleet = new Fleet(testCluster, await testCluster.namespace('fault'));
    await testCluster.secret(fleet.namespace);
    this.fleets.push(fleet);
    const running = Math.min(count, this.options.running);
    if (running > 0) await fleet.run(running);
    await fleet.fill(count - running, workload);
    return fleet;
  }

  async another(): Promise<Manager> {
    const manager = await this.testbed.operator.startAnother();
    this.others.push(manager);
    return manager;
  }

  broken = (sentence: string): void => void this.findings.push(`broken: ${sentence}`);

  countFromHere = async (): Promise<void> => void (this.start = await this.lookAround());

  /** Waits until the state is correct and writes have stopped. While the operator writes, it waits at most twice the time. */
  async rest(boundMs = this.options.boundMs): Promise<readonly string[]> {
    for (const deadline = Date.now() + boundMs; ; await sleep(POLL_MS)) {
      const isLast = Date.now() > deadline && (this.isQuiet() || Date.now() > deadline + boundMs);
      if (!isLast && !this.isQuiet()) continue;
      const findings = await this.judge();
      if (isLast || (this.isQuiet() && !findings.some((each) => /^(lost|stuck|unreported)/.test(each))))
        return findings;
    }
  }

  async verdict(fault: () => Promise<unknown>): Promise<Verdict> {
    try {
      await fault().finally(() => this.tidy());
      // The history is judged at the end.
      this.findings.push(...(await this.rest()).filter((each) => /^(lost|stuck)/.test(each)));
      for (const fleet of this.fleets) await fleet.deleteLumigo().catch(undefinedIfNotFound);
      for (const fleet of this.fleets) fleet.exempt.clear();
      await this.rest();
      this.findings.push(...(await this.judge()));
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

  /** A stopped process receives no SIGTERM. */
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
      const injector = toInjector(operator.installation.config);
      return [...inspect(fleet, now, injector), ...countBetween(start, now, fleet, history)];
    });
  }

  private isQuiet(): boolean {
    const last = this.testbed.history.refresh().writes.findLast(({ byOperator }) => byOperator);
    return last === undefined || Date.now() - last.atMs > QUIET_MS;
  }
}

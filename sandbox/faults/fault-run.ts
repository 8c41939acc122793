import { setTimeout as sleep } from 'node:timers/promises';
import { toInjector } from '../../runtime/config/config.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { Manager } from '../manager/manager.ts';
import { isAlive } from '../run.ts';
import { countFleet } from './count-fleet.ts';
import { Fleet } from './fleet.ts';
import { inspect } from './inspect.ts';
import type { Random } from './random.ts';
import { getWarnings } from './reader.ts';
import type { Testbed } from './testbed.ts';

export const isFull = process.env['LUMIGO_FAULTS'] === 'full';
/** The longest time from the fault until the state is correct. */
const BOUND_MS = isFull ? 90_000 : 45_000;
const POLL_MS = 400;
/** After this time without a write, no other follows. */
const QUIET_MS = 2_000;

export class FaultRun {
  readonly figures: Record<string, number> = {};
  private readonly fleets: Fleet[] = [];
  private readonly others: Manager[] = [];
  private readonly findings: string[] = [];
  private readonly beganAt = Date.now();

  constructor(
    readonly testbed: Testbed,
    readonly random: Random,
  ) {}

  /** Creates a namespace with Deployments, which the verdict is about, and the Secret of a `Lumigo`. */
  async fleet(count: number, running = 0): Promise<Fleet> {
    const { testCluster } = this.testbed.operator;
    const fleet = new Fleet(testCluster, await testCluster.namespace('fault'));
    await testCluster.secret(fleet.namespace);
    this.fleets.push(fleet);
    if (running > 0) await fleet.run(running);
    await fleet.fill(count - running);
    return fleet;
  }

  async another(): Promise<Manager> {
    const manager = await this.testbed.operator.startAnother();
    this.others.push(manager);
    return manager;
  }

  broken(sentence: string): void {
    this.findings.push(`broken: ${sentence}`);
  }

  async countFromHere(): Promise<void> {
    for (const fleet of this.fleets) fleet.start = await this.testbed.reader.look(fleet.namespace);
  }

  /** Waits until the state is correct and writes have stopped. While the operator writes, it waits at most twice the time. */
  async rest(boundMs = BOUND_MS): Promise<readonly string[]> {
    for (const deadline = Date.now() + boundMs; ; await sleep(POLL_MS)) {
      const isLast = Date.now() > deadline && (this.isQuiet() || Date.now() > deadline + boundMs);
      if (!isLast && !this.isQuiet()) continue;
      const findings = await this.judge();
      if (isLast || (this.isQuiet() && !findings.some((each) => /^(lost|stuck|unreported)/.test(each))))
        return findings;
    }
  }

  /** Returns figures, and a sentence for each violation, which begins with its kind: `lost: …`. */
  async verdict(fault: () => Promise<unknown>) {
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
        warnings: this.fleets.flatMap(({ now }) => getWarnings(now)).length,
        ...this.figures,
      },
    };
  }

  /** A stopped process receives no SIGTERM. */
  private async tidy(): Promise<void> {
    const { operator, proxy, etcd } = this.testbed;
    proxy.interfere = undefined;
    etcd.delayAnswers(0);
    for (const { pid } of [operator.manager(), ...this.others]) if (isAlive(pid)) process.kill(pid, 'SIGCONT');
    for (const other of this.others) await other.stop();
    if (!isAlive(operator.manager().pid)) await operator.startManager();
  }

  private async judge(): Promise<readonly string[]> {
    const { history, operator, reader } = this.testbed;
    for (const fleet of this.fleets) fleet.now = await reader.look(fleet.namespace);
    history.refresh();
    const injector = toInjector(operator.installation.config);
    return this.fleets.flatMap((fleet) => [...inspect(fleet, injector), ...countFleet(fleet, history)]);
  }

  private isQuiet(): boolean {
    return !this.testbed.history.refresh().writes.some((each) => each.byOperator && Date.now() - each.atMs <= QUIET_MS);
  }
}

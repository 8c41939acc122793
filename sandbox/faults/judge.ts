import { setTimeout as sleep } from 'node:timers/promises';
import { annotations, lumigo as contract } from '../../runtime/contract.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import { isInjected } from '../../runtime/injection/remove.ts';
import { parseStamp } from '../../runtime/injection/stamp.ts';
import { templateOf } from '../../runtime/injection/workload.ts';
import type { InjectorSettings } from '../../runtime/injection/types.ts';
import type { Bench } from '../testing/bench.ts';
import { add, changeReasons, count, type Counted, type Start } from './count.ts';
import type { Fleet } from './fleet.ts';
import { wantedOf, type History } from './history.ts';
import { inspect, type Findings } from './rest.ts';

const POLL_MS = 400;
/** Nothing was written for so long: what was to follow has followed. */
const QUIET_MS = 2_000;

interface Beginning {
  readonly atMs: number;
  readonly starts: ReadonlyMap<string, Start>;
}

/** Counts what became of some fleets. */
export class Judge {
  private readonly fleets: Fleet[] = [];
  private readonly beganAt = Date.now();
  /** By uid, as they were last seen. */
  private generations: ReadonlyMap<string, number> = new Map();
  /** By namespace: how many events there are, by uid and reason. */
  private readonly events = new Map<string, ReadonlyMap<string, number>>();
  private beginning: Beginning = { atMs: 0, starts: new Map() };

  constructor(
    private readonly history: History,
    private readonly injector: InjectorSettings,
  ) {}

  add(fleet: Fleet): void {
    this.fleets.push(fleet);
  }

  /** What was before is as if it had not been. */
  async begin(): Promise<void> {
    const starts = new Map<string, Start>();
    for (const fleet of this.fleets)
      for (const workload of await fleet.list()) {
        const { uid = '', generation = 0, annotations: own } = workload.metadata;
        const stampText = own?.[annotations.instrumentation];
        const template = templateOf(workload);
        const isIn = template !== undefined && isInjected(template);
        starts.set(uid, { generation, stampText, has: isIn ? wantedOf(parseStamp(stampText)?.tracing) : 'none' });
      }
    this.beginning = { atMs: Date.now(), starts };
  }

  /** Looks until everything is as it should be and nothing is written any more, or the time is up. While something is written it waits. */
  async settle(boundMs: number): Promise<Findings> {
    for (const deadline = Date.now() + boundMs; ; await sleep(POLL_MS)) {
      const isLast = Date.now() > deadline;
      if (!isLast && !this.isQuiet()) continue;
      const findings = await this.inspectAll();
      if (isLast) return findings;
      if (findings.lost.length + findings.stuck.length === 0 && this.counted().untold === 0 && this.isQuiet())
        return findings;
    }
  }

  /** Takes every injection out again, by the deletion of the Lumigo resources, and says what stays. */
  async takeOut(boundMs: number): Promise<Findings> {
    for (const { namespace, bench } of this.fleets)
      await bench.client.delete({ ...contract, namespace, name: 'lumigo' }).catch(undefinedIfNotFound);
    for (const fleet of this.fleets) fleet.exempt.clear();
    return this.settle(boundMs);
  }

  counted(): Counted {
    const { writes, posts, asks } = this.history.refresh();
    const { atMs, starts } = this.beginning;
    const sums = { toldTwice: 0, untold: 0, restarted: 0, warnings: 0, amiss: new Map<string, number>() };
    for (const { namespace, isTold } of this.fleets) {
      const mine = <T extends { namespace: string; atMs: number }>(all: readonly T[]) =>
        all.filter((each) => each.namespace === namespace && each.atMs >= atMs);
      const own = mine(writes).toSorted((a, b) => a.version - b.version);
      const counted = count(own, mine(posts), mine(asks), {
        ...{ starts, ends: this.generations },
        events: this.beginning.atMs === 0 ? (this.events.get(namespace) ?? new Map()) : new Map(),
      });
      sums.restarted += counted.restarted;
      if (!isTold) continue;
      sums.toldTwice += counted.toldTwice;
      sums.untold += counted.untold;
      sums.warnings += counted.warnings;
      for (const [what, times] of counted.amiss) add(sums.amiss, what, times);
    }
    return sums;
  }

  /** Requests of the operator since the judge was called. */
  requests(): number {
    return this.history.refresh().requests.filter(({ atMs }) => atMs >= this.beganAt).length;
  }

  private async inspectAll(): Promise<Findings> {
    const findings = [];
    const generations = new Map<string, number>();
    for (const fleet of this.fleets) {
      const workloads = await fleet.list();
      findings.push(await inspect(fleet, workloads, this.injector));
      for (const { metadata } of workloads) generations.set(metadata.uid ?? '', metadata.generation ?? 0);
    }
    this.generations = generations;
    for (const { namespace, bench } of this.fleets) this.events.set(namespace, await eventsIn(bench, namespace));
    return { lost: findings.flatMap(({ lost }) => lost), stuck: findings.flatMap(({ stuck }) => stuck) };
  }

  private isQuiet(): boolean {
    const last = this.history.refresh().writes.findLast(({ byOperator }) => byOperator);
    return last === undefined || Date.now() - last.atMs > QUIET_MS;
  }
}

async function eventsIn(bench: Bench, namespace: string): Promise<Map<string, number>> {
  const there = new Map<string, number>();
  for (const { reason, involvedObject } of await bench.events(namespace))
    if (changeReasons.has(reason)) add(there, `${involvedObject.uid ?? ''} ${reason}`);
  return there;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { lumigo as contract } from '../../runtime/contract.ts';
import { undefinedIfNotFound } from '../../runtime/kubernetes/http/errors.ts';
import type { InjectorSettings } from '../../runtime/injection/types.ts';
import { add, changeReasons, count, type Counted, type Start } from './count.ts';
import type { Fleet } from './fleet.ts';
import { notedOn, wantedBy, type Ask, type History } from './history.ts';
import { inspect, lumigoesIn, type Findings } from './rest.ts';

const POLL_MS = 400;
/** Nothing was written for so long: what was to follow has followed. */
const QUIET_MS = 2_000;

/** Counts what became of some fleets. */
export class Judge {
  readonly fleets: Fleet[] = [];
  private readonly beganAt = Date.now();
  /** By uid, as they were last seen. */
  private readonly ends = new Map<string, number>();
  private readonly failing = new Set<string>();
  /** By namespace: how many events there are, by uid and reason. */
  private readonly events = new Map<string, ReadonlyMap<string, number>>();
  /** When the counting began, unless with the judge; how all was then, and what the Lumigo resources asked for. */
  private beginning: { readonly atMs: number; readonly starts: ReadonlyMap<string, Start>; readonly asks: Ask[] } = {
    ...{ atMs: 0, starts: new Map(), asks: [] },
  };

  constructor(
    private readonly history: History,
    private readonly injector: InjectorSettings,
  ) {}

  /** What was before is as if it had not been. */
  async begin(): Promise<void> {
    const [atMs, starts, asks] = [Date.now(), new Map<string, Start>(), [] as Ask[]];
    for (const { bench, namespace } of this.fleets)
      for (const wanted of (await lumigoesIn(bench, namespace)).map(wantedBy))
        if (wanted !== undefined) asks.push({ atMs, namespace, wanted });
    for (const fleet of this.fleets)
      for (const workload of await fleet.list())
        starts.set(workload.metadata.uid ?? '', {
          generation: workload.metadata.generation ?? 0,
          ...notedOn(workload),
        });
    this.beginning = { atMs, starts, asks };
  }

  /**
   * Looks until everything is as it should be and nothing is written any more, or the time is up. While something is written it waits,
   * at most for twice the time.
   */
  async settle(boundMs: number): Promise<Findings> {
    for (const deadline = Date.now() + boundMs; ; await sleep(POLL_MS)) {
      const isLast = Date.now() > deadline && (this.isQuiet() || Date.now() > deadline + boundMs);
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
    const { atMs, starts, asks: asked } = this.beginning;
    const sums = { toldTwice: 0, untold: 0, restarted: 0, warnings: 0, amiss: new Map<string, number>() };
    for (const { namespace, isTold } of this.fleets) {
      const mine = <T extends { namespace: string; atMs: number }>(all: readonly T[]) =>
        all.filter((each) => each.namespace === namespace && each.atMs >= atMs);
      const counted = count(
        mine(writes).toSorted((a, b) => a.version - b.version),
        mine(posts),
        [...mine(asked), ...mine(asks)],
        {
          ...{ starts, ends: this.ends, failing: this.failing },
          events: atMs === 0 ? (this.events.get(namespace) ?? new Map()) : new Map(),
        },
      );
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
  requests = (): number => this.history.refresh().requests.filter(({ atMs }) => atMs >= this.beganAt).length;

  private async inspectAll(): Promise<Findings> {
    const all = { lost: [] as string[], stuck: [] as string[] };
    this.ends.clear();
    for (const fleet of this.fleets) {
      const workloads = await fleet.list();
      const { lost, stuck } = await inspect(fleet, workloads, this.injector);
      all.lost.push(...lost);
      all.stuck.push(...stuck);
      for (const { metadata } of workloads) {
        this.ends.set(metadata.uid ?? '', metadata.generation ?? 0);
        if (metadata.name === fleet.failing) this.failing.add(metadata.uid ?? '');
      }
      this.events.set(fleet.namespace, await eventsIn(fleet));
    }
    return all;
  }

  private isQuiet(): boolean {
    const last = this.history.refresh().writes.findLast(({ byOperator }) => byOperator);
    return last === undefined || Date.now() - last.atMs > QUIET_MS;
  }
}

async function eventsIn({ bench, namespace }: Fleet): Promise<Map<string, number>> {
  const there = new Map<string, number>();
  for (const { reason, involvedObject } of await bench.events(namespace))
    if (changeReasons.has(reason)) add(there, `${involvedObject.uid ?? ''} ${reason}`);
  return there;
}

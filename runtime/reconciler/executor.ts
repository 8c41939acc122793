import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { workloads, type WorkloadKind } from '../contract.ts';
import { describeError } from '../wording/errors.ts';
import type { Workload } from '../injection/types.ts';
import { backoffMs } from '../kubernetes/http/plan-retry.ts';
import { ByteBudget } from '../kubernetes/http/byte-budget.ts';
import type { WorkloadPage } from './api.ts';
import type { Pacing } from './pacing.ts';
import type { WorkloadChange } from './plan-workloads.ts';

interface ExecutorOptions {
  readonly pacing: Pacing;
  /** The workloads of a kind in a namespace, page by page; it may end before the last one. */
  readonly pages: (kind: WorkloadKind, namespace: string) => AsyncIterable<WorkloadPage>;
  /** Makes one change, reading the workload first where no fresh copy is given; says whether anything was written. Never rejects. */
  readonly change: (change: WorkloadChange, fresh: Workload | undefined) => Promise<boolean>;
  readonly logger: Logger;
  /** Nothing is begun once it is aborted. */
  readonly signal: AbortSignal;
}

type ByName = Map<string, WorkloadChange>;

/** From this many on, listing a namespace's workloads costs less than reading them one by one. */
const WORTH_A_LIST = 8;
/** The bytes of pages whose workloads wait for their changes, for all groups together. Parsed they take about four times as much. */
const MAX_HELD_BYTES = 4 * 1024 * 1024;
const listBackoff = { firstMs: 1_000, maxMs: 5 * 60_000 };

/**
 * Works off planned changes, a group (namespace and kind) at a time: many are read in pages, few one by one. It decides
 * nothing: what waits is what the latest plan of the namespace says, and what comes of a change decides about the next plan.
 */
export class Executor {
  /** What waits, by namespace and kind; a group stays for as long as it is worked off. */
  private readonly groups = new Map<string, ByName>();
  private readonly held = new ByteBudget(MAX_HELD_BYTES);
  private begun = 0;

  constructor(private readonly options: ExecutorOptions) {}

  /** How many changes were begun and have not ended. */
  get underWay(): number {
    return this.begun;
  }

  /** These and no others are to be made in the namespace from now on; those that are under way are not affected. */
  plan(namespace: string, changes: readonly WorkloadChange[]): void {
    for (const { kind } of workloads) {
      const group = `${namespace}/${kind}`;
      const ofKind = changes.filter(({ workload }) => workload.kind.kind === kind);
      this.groups.get(group)?.clear();
      const waiting = this.groups.get(group) ?? (ofKind.length > 0 ? this.begin(group) : undefined);
      for (const change of ofKind) waiting?.set(change.workload.name, change);
    }
  }

  private begin(group: string): ByName {
    const waiting: ByName = new Map();
    this.groups.set(group, waiting);
    // The next turn of the event loop: what is planned together is read together.
    setImmediate(() => void this.drain(waiting).then(() => this.groups.delete(group)));
    return waiting;
  }

  private async drain(waiting: ByName): Promise<void> {
    const { logger, signal } = this.options;
    for (let failures = 0; waiting.size > 0 && !signal.aborted;) {
      const problem = await this.workOff(waiting).then(() => undefined, describeError);
      failures = problem === undefined ? 0 : failures + 1;
      if (problem === undefined || signal.aborted) continue;
      const [{ workload } = { workload: undefined }] = waiting.values();
      const fields = { namespace: workload?.namespace, kind: workload?.kind.kind, problem };
      logger.warn(fields, 'cannot list workloads, retrying');
      await sleep(backoffMs(failures, listBackoff, Math.random()), undefined, { signal }).catch(() => undefined);
    }
  }

  private async workOff(waiting: ByName): Promise<void> {
    const [first] = waiting.values();
    if (first !== undefined && waiting.size >= WORTH_A_LIST) await this.sweep(waiting, first.workload);
    else for (const change of waiting.values()) await this.admit(waiting, change, undefined);
  }

  private async sweep(waiting: ByName, { kind, namespace }: WorkloadChange['workload']): Promise<void> {
    const asked = new Set(waiting.keys());
    for await (const { workloads: page, bytes } of this.options.pages(kind, namespace)) {
      const release = this.held.takeNow(bytes);
      if (release === undefined) break;
      for (const workload of page) {
        const change = waiting.get(workload.metadata.name ?? '');
        if (change !== undefined) await this.admit(waiting, change, workload);
      }
      release();
    }
    // Not in the list: deleted, created since it began, or there was no room for it. Each is read when it has its place.
    for (const name of asked) {
      const change = waiting.get(name);
      if (change !== undefined) await this.admit(waiting, change, undefined);
    }
  }

  /** Begins a change as soon as there is a place for it, if it is still planned then. */
  private async admit(waiting: ByName, { workload: { name, namespace } }: WorkloadChange, fresh: Workload | undefined) {
    const { pacing, signal, change } = this.options;
    const leave = await pacing.enter(namespace, signal);
    const planned = waiting.get(name);
    waiting.delete(name);
    if (planned === undefined || signal.aborted) return leave(false);
    this.begun += 1;
    // The list may be older than the place is new.
    const isSame = fresh?.metadata.uid === planned.workload.uid;
    void change(planned, isSame ? fresh : undefined).then((changed) => {
      this.begun -= 1;
      leave(changed);
    });
  }
}

import type { Logger } from 'pino';
import type { WorkloadKind } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { Workload } from '../injection/types.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from './backoff.ts';
import type { Pacing } from './pacing.ts';
import type { WorkloadRecord } from './workload-store.ts';

export interface ChangerOptions {
  readonly pacing: Pacing;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** All workloads of a kind in a namespace, page by page. */
  readonly pages: (kind: WorkloadKind, namespace: string) => AsyncIterable<readonly Workload[]>;
  /** Brings one workload to where it should be, reading it first where no fresh copy is given. Says whether anything was written. */
  readonly converge: (record: WorkloadRecord, fresh: Workload | undefined) => Promise<boolean>;
  /** Told whenever a workload of the namespace is done, for now or for good. */
  readonly onProgress: (namespace: string, pending: number) => void;
  /** Told of a workload that changed again while it was being changed. */
  readonly onUnsettled: (record: WorkloadRecord) => void;
  readonly random?: () => number;
}

/** From this many on, listing a namespace's workloads costs less than reading them one by one. */
const WORTH_A_LIST = 8;

/**
 * Works off the workloads that need a change, a group (namespace and kind) at a time: many are read in pages, few one by
 * one. One that fails stops no other; it is tried again after a backoff.
 */
export class Changer {
  readonly #options: ChangerOptions;
  readonly #waiting = new Map<string, Map<string, WorkloadRecord>>();
  readonly #pending = new Map<string, number>();
  readonly #retries = new Set<NodeJS.Timeout>();

  constructor(options: ChangerOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#retries.forEach((timer) => clearTimeout(timer)));
  }

  /** How many workloads of a namespace wait or are being changed. */
  pending(namespace: string): number {
    return this.#pending.get(namespace) ?? 0;
  }

  request(record: WorkloadRecord): void {
    if (this.#options.signal.aborted) return;
    const { namespace, kind, name } = record;
    const group = `${namespace}/${kind.kind}`;
    const waiting = this.#waiting.get(group);
    if (waiting?.has(name)) {
      waiting.set(name, record);
      return;
    }
    this.#pending.set(namespace, this.pending(namespace) + 1);
    if (waiting !== undefined) {
      waiting.set(name, record);
      return;
    }
    this.#waiting.set(group, new Map([[name, record]]));
    // The next turn of the event loop: what arrives together is read together.
    setImmediate(() => void this.#drain(group, kind, namespace));
  }

  async #drain(group: string, kind: WorkloadKind, namespace: string): Promise<void> {
    const waiting = this.#waiting.get(group) ?? new Map<string, WorkloadRecord>();
    const { logger, random = Math.random, signal } = this.#options;
    for (let failures = 0; waiting.size > 0 && !signal.aborted;) {
      const problem = await this.#takeAll(waiting, kind, namespace).catch(describeError);
      failures = problem === undefined ? 0 : failures + 1;
      if (problem === undefined) continue;
      logger.warn({ namespace, kind: kind.kind, problem }, 'workloads cannot be listed');
      await sleep(backoffMs(failures, random()), undefined, { signal }).catch(() => undefined);
    }
    this.#waiting.delete(group);
  }

  async #takeAll(waiting: Map<string, WorkloadRecord>, kind: WorkloadKind, namespace: string): Promise<undefined> {
    if (waiting.size >= WORTH_A_LIST) await this.#sweep(waiting, kind, namespace);
    else for (const record of waiting.values()) await this.#admit(waiting, record, undefined);
  }

  async #sweep(waiting: Map<string, WorkloadRecord>, kind: WorkloadKind, namespace: string): Promise<void> {
    const asked = [...waiting.values()];
    for await (const page of this.#options.pages(kind, namespace)) await this.#admitPage(waiting, page);
    // Not in the list: gone, or created since it began.
    for (const record of asked) if (waiting.get(record.name) === record) await this.#admit(waiting, record, undefined);
  }

  async #admitPage(waiting: Map<string, WorkloadRecord>, page: readonly Workload[]): Promise<void> {
    for (const workload of page) {
      const record = waiting.get(workload.metadata.name ?? '');
      if (record !== undefined) await this.#admit(waiting, record, workload);
    }
  }

  async #admit(
    waiting: Map<string, WorkloadRecord>,
    record: WorkloadRecord,
    fresh: Workload | undefined,
  ): Promise<void> {
    const leave = await this.#options.pacing.enter(record.namespace);
    waiting.delete(record.name);
    void this.#change(record, fresh).then((changed) => {
      leave(changed);
      if (!record.settled && record.problem === undefined) this.#options.onUnsettled(record);
      const left = this.pending(record.namespace) - 1;
      if (left === 0) this.#pending.delete(record.namespace);
      else this.#pending.set(record.namespace, left);
      this.#options.onProgress(record.namespace, left);
    });
  }

  async #change(record: WorkloadRecord, fresh: Workload | undefined): Promise<boolean> {
    record.changing = true;
    try {
      const changed = await this.#options.converge(record, fresh);
      record.failures = 0;
      record.problem = undefined;
      return changed;
    } catch (error) {
      if (this.#options.signal.aborted) return false;
      record.failures += 1;
      record.problem = describeError(error);
      this.#retryLater(record);
      return false;
    } finally {
      record.changing = false;
    }
  }

  #retryLater(record: WorkloadRecord): void {
    const { random = Math.random } = this.#options;
    const timer = setTimeout(
      () => {
        this.#retries.delete(timer);
        if (!record.settled) this.request(record);
      },
      backoffMs(record.failures, random()),
    );
    this.#retries.add(timer);
  }
}

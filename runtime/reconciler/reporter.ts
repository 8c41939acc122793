import type { Logger } from 'pino';
import { eventReasons } from '../contract.ts';
import { describeError } from '../errors.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { backoffMs } from './backoff.ts';
import { stampOf } from './plan.ts';
import type { WorkloadRecord } from './workload-store.ts';

type Change = 'added' | 'updated' | 'removed';

export interface InstrumentationEvent {
  readonly reason: string;
  readonly type: 'Normal' | 'Warning';
  readonly message: string;
  /** Identifies the change: an event with the same key is the same event, and is posted once. */
  readonly key: string;
}

export interface ReporterOptions {
  /** Posts one event about a workload. One that exists already, or whose namespace is going away, counts as posted. */
  readonly post: (record: WorkloadRecord, event: InstrumentationEvent) => Promise<void>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Changes stamped before this time (ISO 8601) were told by an earlier leader. */
  readonly since: string;
}

const ATTEMPTS = 8;

/**
 * Tells of each change once, by an event on the workload. An event's name follows from the change itself, so that telling
 * it again after a crash finds it there; what an earlier leader had the time to tell is not told again at all.
 */
export class Reporter {
  readonly #options: ReporterOptions;

  constructor(options: ReporterOptions) {
    this.#options = options;
  }

  /** Tells of a change that stands in the workload's stamp, whoever made it, unless it is known to be told. */
  async stamped(record: WorkloadRecord, policy: NamespacePolicy): Promise<void> {
    const stamp = stampOf(record);
    if (stamp === undefined || record.reported === record.stamp) return;
    if (stamp.change === 'adopted' || stamp.at < this.#options.since) {
      record.reported = record.stamp;
      return;
    }
    await this.changed(record, policy, stamp.change);
  }

  async changed(
    record: WorkloadRecord,
    policy: NamespacePolicy,
    change: Change,
    leftAlone: readonly { reason: string }[] = [],
  ): Promise<void> {
    const before = record.instrumentedVersion ?? '';
    const stamp = stampOf(record);
    record.reported = record.stamp;
    record.instrumentedVersion = change === 'removed' ? undefined : record.resourceVersion;
    const exceptions = leftAlone.map(({ reason }) => `; ${reason}`).join('');
    await this.#post(record, {
      reason: eventReasons[change],
      type: 'Normal',
      message: `Lumigo instrumentation ${change} (trigger: ${trigger(policy, record, stamp?.by)})${exceptions}`,
      key: `${change}/${change === 'removed' ? before : (stamp?.at ?? '')}`,
    });
  }

  /** Tells that a workload cannot be instrumented, or its instrumentation not be removed, as it stands. */
  async cannot(record: WorkloadRecord, policy: NamespacePolicy, code: string, message: string): Promise<void> {
    const reason = removes(policy) ? eventReasons.cannotRemove : eventReasons.cannotAdd;
    if (Date.parse(record.createdAt) < Date.parse(this.#options.since) && policyAge(policy) < this.#options.since)
      return;
    await this.#post(record, {
      reason,
      type: 'Warning',
      message: `${message} (trigger: ${trigger(policy, record, 'controller')})`,
      key: `${reason}/${code}/${policyAge(policy)}`,
    });
  }

  /** Tells that the API server did not take a change; the same refusal is told once, however often it is tried. */
  async failed(
    record: WorkloadRecord,
    policy: NamespacePolicy,
    change: Change | 'none',
    error: unknown,
  ): Promise<void> {
    const problem = describeError(error);
    const { logger } = this.#options;
    logger.warn({ kind: record.kind.kind, namespace: record.namespace, name: record.name, problem }, 'change refused');
    if (record.problem === problem) return;
    const [reason, verb] = failures[change];
    await this.#post(record, {
      reason,
      type: 'Warning',
      message: `Cannot ${verb} Lumigo instrumentation (trigger: ${trigger(policy, record, 'controller')}): ${problem}`,
      key: `${reason}/${record.generation}/${problem}`,
    });
  }

  async #post(record: WorkloadRecord, event: InstrumentationEvent): Promise<void> {
    for (let attempt = 1; !this.#options.signal.aborted; attempt += 1) {
      try {
        return await this.#options.post(record, event);
      } catch (error) {
        if (attempt < ATTEMPTS)
          await new Promise((resume) => setTimeout(resume, backoffMs(attempt, Math.random())).unref());
        else return this.#options.logger.error({ err: error, reason: event.reason }, 'event could not be posted');
      }
    }
  }
}

const failures: Readonly<Record<Change | 'none', readonly [reason: string, verb: string]>> = {
  added: [eventReasons.cannotAdd, 'add'],
  updated: [eventReasons.cannotUpdate, 'update'],
  none: [eventReasons.cannotUpdate, 'update'],
  removed: [eventReasons.cannotRemove, 'remove'],
};

const removes = (policy: NamespacePolicy): boolean => policy.state === 'deleting' || policy.state === 'disabled';

const policyAge = (policy: NamespacePolicy): string => (policy.state === 'active' ? policy.createdAt : policy.state);

function trigger(policy: NamespacePolicy, record: WorkloadRecord, by: 'webhook' | 'controller' | undefined): string {
  const actor = by === 'webhook' ? 'injector webhook' : 'controller';
  if (policy.state === 'none') return `${actor}, acting on the workload's own labels`;
  return `${actor}, acting on behalf of the '${record.namespace}/${policy.lumigo}' Lumigo resource`;
}

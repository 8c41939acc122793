import type { Logger } from 'pino';
import type { InjectorSettings, NamespacePolicy, Workload } from '../injection/types.ts';
import type { LumigoStore } from '../lumigo-store.ts';
import type { Metrics } from '../metrics.ts';
import type { ReconcilerApi } from './api.ts';
import { changeWorkload, type ChangeResult } from './change-workload.ts';
import type { EventQueue } from './event-queue.ts';
import type { EventRecorder } from './event-recorder.ts';
import { factsOf } from './facts.ts';
import type { ObservedWorkload } from './observed.ts';
import type { WorkloadChange } from './plan-workloads.ts';
import type { WorkloadStore } from './workload-store.ts';

export interface WorkloadChangerOptions {
  readonly api: ReconcilerApi;
  readonly store: WorkloadStore;
  readonly lumigoes: LumigoStore;
  readonly recorder: EventRecorder;
  readonly events: EventQueue;
  readonly injector: InjectorSettings;
  readonly renew: boolean;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Told when a change has ended, whatever came of it. */
  readonly onChange: (namespace: string) => void;
}

/** Makes planned changes and notes what came of them, so that the next plan knows. */
export class WorkloadChanger {
  readonly #options: WorkloadChangerOptions;

  constructor(options: WorkloadChangerOptions) {
    this.#options = options;
  }

  /** Makes one change. Says whether anything was written. Never rejects. */
  async change(change: WorkloadChange, fresh: Workload | undefined): Promise<boolean> {
    const { api, store, lumigoes, signal, onChange, events } = this.#options;
    const { workload, policy } = change;
    // Planned again once the namespace's events are posted, which takes some milliseconds.
    if (events.isPending(workload.namespace, workload.uid)) return false;
    const before = store.note(workload, { attempt: { policy, stamp: workload.stamp } });
    if (before === undefined) return false;
    const result = await changeWorkload(change, fresh, {
      ...this.#options,
      policy: (namespace) => lumigoes.policy(namespace),
      read: () => api.readWorkload(workload),
      write: (version, patch) => api.writeWorkload(workload, version, patch),
      onWrite: (stamp) => void store.note(workload, { attempt: { policy, stamp } }),
      now: () => new Date().toISOString(),
    });
    // A term that is over leaves nothing behind; the next leader looks for itself.
    if (signal.aborted) return false;
    this.#note(before, change, result);
    onChange(workload.namespace);
    return result.kind === 'written';
  }

  #note(before: ObservedWorkload, { policy, reason }: WorkloadChange, result: ChangeResult): void {
    const { store, recorder } = this.#options;
    const { kind, namespace, name, uid } = before;
    if (result.kind === 'gone') return void store.delete(kind, namespace, name, uid);
    const shown = 'metadata' in result ? result.metadata : undefined;
    const seen = shown === undefined ? undefined : store.upsert(kind, shown);
    const isCurrent = shown !== undefined && seen !== undefined && store.isCurrent(seen.workload, shown);
    const facts = factsOf({ before, policy, result, isCurrent, now: performance.now(), random: Math.random() });
    const noted = store.note(seen?.workload ?? before, { attempt: undefined, ...facts });
    this.#log(before, { policy, reason }, result);
    if (noted !== undefined) recorder.result(noted, before, policy, result);
  }

  #log(
    { kind, namespace, name, failure }: ObservedWorkload,
    { policy, reason }: Pick<WorkloadChange, 'policy' | 'reason'>,
    result: ChangeResult,
  ): void {
    const { logger, metrics } = this.#options;
    const fields = { kind: kind.kind, namespace, name };
    if (result.kind === 'left') logger.debug({ ...fields, reason: result.decision.message }, 'left as it is');
    if (result.kind === 'failed')
      logger[failure?.problem === result.problem ? 'debug' : 'warn'](
        { ...fields, reason, problem: result.problem },
        'workload not changed',
      );
    if (result.kind !== 'written' || result.change === 'none') return;
    logger.info({ ...fields, change: result.change, reason: result.decision.message }, 'workload changed');
    metrics.changes.inc({ change: result.change });
    if (result.change === 'added' && wasMissed(result.createdAt, policy)) metrics.missedInjections.inc();
  }
}

/** The webhook should have done it: the workload is younger than the Lumigo that covers it. */
const wasMissed = (createdAt: string, policy: NamespacePolicy): boolean =>
  policy.state === 'active' && createdAt > policy.createdAt;

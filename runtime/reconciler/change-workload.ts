import { injectorOf } from '../config/config.ts';
import { describeError } from '../wording/errors.ts';
import { decide } from '../injection/decide.ts';
import { changeFor, type Decision } from '../injection/decision.ts';
import { workloadPatch } from '../injection/patch.ts';
import { stampText } from '../injection/stamp.ts';
import type { Metadata, NamespacePolicy, Workload } from '../injection/types.ts';
import { guarded, readAndChange } from '../kubernetes/http/client.ts';
import { isRefusal } from '../kubernetes/http/errors.ts';
import { rolloutOf } from '../rollout/rollout-of.ts';
import { decideTask, decideTurn, forgiven } from './decide-turn.ts';
import type { EventRecorder } from './event-recorder.ts';
import { factsOf, type Change, type ChangeResult, type Written } from './facts.ts';
import type { ObservedWorkload } from './observed.ts';
import type { WorkloadChange } from './plan-workloads.ts';
import type { Term } from './term.ts';

/** Makes planned changes and notes what came of them, so that the next plan knows. */
export class WorkloadChanger {
  private readonly settings;

  constructor(
    private readonly term: Term,
    private readonly recorder: EventRecorder,
  ) {
    const { updateOnUpgrade: renew } = term.config;
    this.settings = { operation: 'RECONCILE', by: 'controller', injector: injectorOf(term.config), renew } as const;
  }

  /** Makes one change, and reads the workload first where no fresh copy is given. Says whether anything was written. Never rejects. */
  async change(change: WorkloadChange, fresh: Workload | undefined): Promise<boolean> {
    const { store, signal, enqueue, events } = this.term;
    const { workload, policy } = change;
    // Planned again once the namespace's events are posted, which takes some milliseconds.
    if (events.isPending(workload.namespace, workload.uid)) return false;
    const { task } = change;
    if (task?.do === 'revert' && !this.recorder.reverting(workload, task.evidence)) {
      enqueue(workload.namespace);
      return false;
    }
    const before = store.note(workload, { attempt: { policy, stamp: workload.stamp } });
    if (before === undefined) return false;
    const result = await this.make(change, fresh);
    // A term that is over leaves nothing behind; the next leader checks for itself.
    if (signal.aborted) return false;
    this.note(before, change, result);
    enqueue(workload.namespace);
    return result.kind === 'written';
  }

  /** Reads the workload, decides, writes what differs. */
  private make(planned: WorkloadChange, fresh: Workload | undefined): Promise<ChangeResult> {
    const { api, lumigoes, lumigoesRead } = this.term;
    const { workload, policy } = planned;
    let change: Change = 'none';
    const attempt = async (seen: Workload): Promise<ChangeResult> => {
      const decision = this.decide(planned, seen);
      const turn = this.turn(planned, seen, decision);
      const { metadata } = seen;
      if (turn.may === 'wait') return { kind: 'queued', metadata, rollout: turn.rollout };
      if (turn.may === 'stay') return { kind: 'left', metadata, ...turn };
      if (decision.action === 'none') return { kind: 'left', metadata, decision, rollout: this.watched(planned, seen) };
      if (!lumigoesRead.isCurrent || lumigoes.policy(workload.namespace) !== policy) return { kind: 'outdated' };
      change = changeFor[decision.tried];
      const written = await this.write(workload, policy, seen, decision.workload);
      return this.written(planned, seen, { kind: 'written', metadata: written, change, decision, rollout: undefined });
    };
    return readAndChange(fresh, () => api.readWorkload(workload), attempt).then(
      (result) => result ?? { kind: 'gone' },
      (error: unknown) => ({ kind: 'failed', change, problem: describeError(error), isRefused: isRefusal(error) }),
    );
  }

  private written(planned: WorkloadChange, seen: Workload, written: Written): ChangeResult {
    const { task, policy } = planned;
    if (task?.do === 'forgive')
      return { ...written, kind: 'queued', rollout: forgiven(seen, policy, performance.now()), isForgiven: true };
    const { workload } = written.decision;
    // Its own status is older than what was written.
    const { generation = 0 } = written.metadata;
    const rollout = this.watched(planned, { ...workload, metadata: { ...workload.metadata, generation } });
    const isReverted = task?.do === 'revert' && written.change === 'removed';
    return { ...written, rollout, ...(isReverted ? { evidence: task.evidence } : {}) };
  }

  /** What a rollout asks for holds only for the object that it was asked for; else the usual decision. */
  private decide({ policy, task, workload }: WorkloadChange, seen: Workload): Decision {
    const now = new Date().toISOString();
    const isSame = stampText(seen.metadata) === workload.stamp;
    const injector = this.settings.injector;
    const special = isSame && task !== undefined ? decideTask({ task, workload: seen, injector, now }) : undefined;
    return special ?? decide({ ...this.settings, workload: seen, policy, now });
  }

  /** Whose pods are watched, once a check or a write has shown it so. */
  private watched({ policy, workload: { rollout: before } }: WorkloadChange, workload: Workload) {
    const now = { ms: performance.now(), epochMs: Date.now() };
    return this.term.config.rolloutStrategy === 'immediate' ? undefined : rolloutOf({ workload, policy, before, now });
  }

  private turn({ policy, task }: WorkloadChange, workload: Workload, decision: Decision) {
    const { rolloutStrategy: strategy } = this.term.config;
    const granted = task?.do === 'inject';
    return decideTurn({ strategy, decision, workload, policy, granted, now: performance.now() });
  }

  private async write(
    known: ObservedWorkload,
    policy: NamespacePolicy,
    before: Workload,
    after: Workload,
  ): Promise<Metadata> {
    const { api, store } = this.term;
    const patch = workloadPatch(before, after);
    if (patch.length === 0) return before.metadata;
    // Before it is sent: its echo in the watch may be quicker than its answer.
    store.note(known, { attempt: { policy, stamp: stampText(after.metadata) } });
    return api.patchWorkload(known, guarded(before.metadata.resourceVersion ?? '', patch));
  }

  private note(before: ObservedWorkload, change: WorkloadChange, result: ChangeResult): void {
    const { store } = this.term;
    const { kind, namespace, name, uid } = before;
    const { policy } = change;
    if (result.kind === 'gone') return void store.delete(kind, namespace, name, uid);
    const shown = 'metadata' in result ? result.metadata : undefined;
    const seen = shown === undefined ? undefined : store.upsert(kind, shown);
    const isCurrent = shown !== undefined && seen !== undefined && store.isCurrent(seen.workload, shown);
    const facts = factsOf({ before, policy, result, isCurrent, now: performance.now(), random: Math.random() });
    // What is known may be another one of its name by now, of which the result says nothing.
    const of = seen !== undefined && seen.workload.uid === shown?.uid ? seen.workload : before;
    const noted = store.note(of, { attempt: undefined, ...facts });
    this.log(before, change, result);
    if (noted !== undefined) this.recorder.result(noted, before, policy, result);
  }

  private log(before: ObservedWorkload, { policy, reason }: WorkloadChange, result: ChangeResult): void {
    const { logger, metrics } = this.term;
    const { kind, namespace, name, failure } = before;
    const fields = { kind: kind.kind, namespace, name };
    if (result.kind === 'left') logger.debug({ ...fields, reason: result.decision.message }, 'workload skipped');
    if (result.kind === 'failed') {
      const level = failure?.problem === result.problem ? 'debug' : 'warn';
      logger[level]({ ...fields, reason, problem: result.problem }, 'cannot change the workload, retrying');
    }
    if (result.kind !== 'written' || result.change === 'none') return;
    logger.info({ ...fields, change: result.change, reason: result.decision.message }, 'workload changed');
    metrics.changes.inc({ change: result.change });
    if (result.evidence !== undefined) metrics.reverts.inc({ cause: result.evidence.cause });
    if (result.change === 'added' && wasMissed(result.metadata, policy)) metrics.missedInjections.inc();
  }
}

/** The webhook should have done it: the workload is younger than the Lumigo that covers it. */
const wasMissed = ({ creationTimestamp = '' }: Metadata, policy: NamespacePolicy): boolean =>
  policy.state === 'active' && creationTimestamp > policy.createdAt;

import { toInjector } from '../config/config.ts';
import { describeError } from '../wording/errors.ts';
import { decide } from '../injection/decide.ts';
import { changeFor, type Decision } from '../injection/decision.ts';
import { equal } from '../json/values.ts';
import { findRevert } from '../injection/revert.ts';
import { hasInjection } from '../injection/remove.ts';
import { workloadPatch } from '../injection/patch.ts';
import { injectionStatusText } from '../injection/injection-status.ts';
import type { Workload } from '../api/objects.ts';
import { toTemplate } from '../injection/workload.ts';
import { guarded, readAndChange } from '../kubernetes/http/client.ts';
import { ApiError, askedWaitMs, isRefusal } from '../kubernetes/http/errors.ts';
import { blockedBy, getTried } from '../rollout/transition.ts';
import { idle, type Observation, type Reading } from '../rollout/workload-state.ts';
import type { EventRecorder } from './event-recorder.ts';
import { getFacts, isMissed, type Change, type ChangeResult, type Failed, type Written } from './facts.ts';
import { contestedUntil, whyWaits } from './plan-workload.ts';
import { WorkloadJudge } from './judge-workload.ts';
import { classifyWorkload, mayHang } from './observations.ts';
import type { ObservedWorkload } from './observed.ts';
import type { WorkloadChange } from './plan-rollout.ts';
import type { Rollouts } from './rollouts.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

export class WorkloadChanger {
  private readonly judge: WorkloadJudge;
  private readonly settings;

  constructor(
    private readonly term: ReconcilerContext,
    private readonly recorder: EventRecorder,
    private readonly rollouts: Rollouts,
  ) {
    this.judge = new WorkloadJudge(term, rollouts);
    const { updateOnUpgrade: renew } = term.config;
    this.settings = { operation: 'RECONCILE', by: 'controller', injector: toInjector(term.config), renew } as const;
  }

  /** Makes one change. Without a fresh copy it reads the workload first. Returns whether it wrote. Never rejects. */
  async change(change: WorkloadChange, fresh: Workload | undefined): Promise<boolean> {
    const { store, signal, enqueue, events } = this.term;
    const { workload, task } = change;
    // The plan is repeated when the namespace's events are posted, within milliseconds.
    if (events.isPending(workload.namespace, workload.uid)) return false;
    const before = store.update(workload, { inFlight: { injectionStatus: workload.injectionStatus } });
    if (before === undefined) return false;
    const result = await (task === 'evict' ? this.judge.evict(workload).catch(failed) : this.make(change, fresh));
    if (signal.aborted) return false;
    if (result === undefined) store.delete(before);
    else {
      this.note(before, change, result);
      await this.judge.observe(before, result);
    }
    if (!signal.aborted) enqueue(workload.namespace);
    return result?.kind === 'written';
  }

  /** Returns undefined if the workload no longer exists. */
  private make(planned: WorkloadChange, fresh: Workload | undefined): Promise<ChangeResult | undefined> {
    const { api, lumigoes, lumigoesRead } = this.term;
    const { workload, policy } = planned;
    let change: Change = 'none';
    const attempt = async (seen: Workload): Promise<ChangeResult | undefined> => {
      // The watch brings the one that has its name by now.
      if (seen.metadata.uid !== workload.uid) return undefined;
      const decision = this.decide(planned, seen);
      if (decision.kind === 'none') return { kind: 'left', workload: seen, decision };
      const left = { ...decision, kind: 'none', tried: 'nothing' } as const;
      if (isHeld(planned)) return { kind: 'left', workload: seen, decision: left, isUndone: true };
      const observation = this.due(planned, seen, decision);
      if (observation !== undefined) return { kind: 'waiting', workload: seen, observation };
      // A watch may not show yet that its namespace has one.
      if (policy.kind === 'none' && isLeftBehind(decision) && (await api.hasLumigo(workload.namespace)))
        throw new Error('its namespace has a Lumigo resource that is not known yet');
      if (!lumigoesRead.isCurrent || lumigoes.policy(workload.namespace) !== policy) return { kind: 'outdated' };
      change = changeFor[decision.tried];
      return { kind: 'written', ...(await this.write(planned, seen, decision)), change, decision };
    };
    return readAndChange(fresh, () => api.readWorkload(workload), attempt).catch(async (error: unknown) => {
      const result = { ...failed(error), change };
      // A webhook that is unreachable refuses as well, and a second request would wait for it again.
      const isDenied = result.isRefused && error instanceof ApiError && error.status < 500;
      if (!isDenied || change !== 'added') return result;
      const also = await api.changeNothing(workload).then(() => undefined, failed);
      return also?.isRefused === false ? result : { ...result, isInjectionRefused: also === undefined };
    });
  }

  private decide({ policy, task, workload }: WorkloadChange, seen: Workload): Decision {
    const { state = idle, injectionStatus } = workload;
    const failed = task === 'revert' && state.kind === 'reverting' ? { ...state, injectionStatus } : undefined;
    const now = new Date().toISOString();
    return decide({ ...this.settings, workload: seen, policy, now, attempt: getTried(state).attempt, failed });
  }

  private due({ task, workload }: WorkloadChange, seen: Workload, decision: Decision): Observation | undefined {
    const { rolloutStrategy: strategy } = this.term.config;
    if (strategy === 'immediate' || decision.kind !== 'inject') return undefined;
    if (equal(toTemplate(seen), toTemplate(decision.workload))) return undefined;
    const reading = classifyWorkload(seen, this.rollouts.installed(workload));
    // Another writer may remove an injection while it is being reverted.
    if (workload.state?.kind === 'reverting' && !hasInjection(seen))
      return { kind: 'removed', risk: reading.risk, mayHang: mayHang(seen) };
    const waits = whyWaits(strategy, seen);
    const isNow = waits === undefined && task === 'inject' && !mustWait(workload, reading);
    return isNow ? undefined : { kind: 'due', waits, isRetry: findRevert(seen.metadata) !== undefined, ...reading };
  }

  private async write({ workload }: WorkloadChange, before: Workload, { workload: after, tried }: Written['decision']) {
    const { api, store } = this.term;
    const patch = workloadPatch(before, after);
    if (patch.length === 0) return { workload: { ...after, metadata: before.metadata } };
    // The record of a revert decides. If the write fails, the next reading finds it again.
    if (tried === 'nothing' && !hasInjection(before) && injectionStatusText(after.metadata) === undefined)
      this.rollouts.see(workload, { kind: 'clean' });
    // The watch may report the change before the answer arrives.
    store.update(workload, { inFlight: { injectionStatus: injectionStatusText(after.metadata) } });
    const stored = await api.patchWorkload(workload, guarded(before.metadata.resourceVersion ?? '', patch));
    const is = toTemplate(stored);
    const isRestored = equal(toTemplate(before), is) && !equal(is, toTemplate(after));
    const isUndone = isRestored || hasInjection(stored) !== hasInjection(after);
    return isUndone ? { workload: stored, isUndone } : { workload: stored };
  }

  private note(before: ObservedWorkload, change: WorkloadChange, result: ChangeResult): void {
    const { store } = this.term;
    const { policy } = change;
    const shown = 'workload' in result ? result.workload.metadata : undefined;
    const seen = shown && store.upsert(before.kind, shown);
    const isCurrent = seen?.isCurrent === true;
    const facts = getFacts({ before, policy, result, isCurrent, now: performance.now(), random: Math.random() });
    const updated = store.update(before, { inFlight: undefined, ...facts });
    if (isMissed(before, policy, result)) this.term.metrics.missedInjections.inc();
    this.log(before, change, result);
    if (updated !== undefined) this.recorder.result(updated, before, policy, result);
  }

  private log(before: ObservedWorkload, { reason }: WorkloadChange, result: ChangeResult): void {
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
    const revert = findRevert(result.workload.metadata);
    if (revert !== undefined) metrics.reverts.inc({ cause: revert.cause });
  }
}

const mustWait = ({ state = idle }: ObservedWorkload, { completion, injector }: Reading): boolean =>
  blockedBy(completion, injector, getTried(state).freed) !== undefined;

const failed = (error: unknown): Failed => ({
  kind: 'failed',
  change: 'none',
  problem: describeError(error),
  isRefused: isRefusal(error),
  atLeastMs: askedWaitMs(error),
});

/** Only writes wait for another writer, because an injection that stands may fail. */
const isHeld = ({ workload, policy }: WorkloadChange): boolean =>
  workload.state?.kind !== 'reverting' && contestedUntil(workload, policy) > performance.now();

export const isLeftBehind = (decision: Decision): boolean =>
  decision.kind === 'remove' ? decision.cause === 'left-behind' : decision.code === 'no-lumigo';

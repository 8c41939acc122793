import { hasInjection } from '../injection/remove.ts';
import { injectionStatusText } from '../injection/injection-status.ts';
import { findRevert } from '../injection/revert.ts';
import type { Workload } from '../api/objects.ts';
import { look } from '../rollout/evidence.ts';
import { isJudged } from '../rollout/judge.ts';
import { getRisk } from '../rollout/batches.ts';
import { idle } from '../rollout/workload-state.ts';
import { describeError } from '../wording/errors.ts';
import type { ChangeResult, Waiting, Written } from './facts.ts';
import { mayHang, observe } from './observations.ts';
import type { ObservedWorkload } from './observed.ts';
import type { Rollouts } from './rollouts.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

export class WorkloadJudge {
  constructor(
    private readonly term: ReconcilerContext,
    private readonly rollouts: Rollouts,
    private readonly lookAt: ReconcilerContext['api']['podsOfGeneration'] = (seen) => term.api.podsOfGeneration(seen),
  ) {}

  async observe(before: ObservedWorkload, result: ChangeResult): Promise<void> {
    if (this.term.config.rolloutStrategy === 'immediate') return this.awaitPods(before, result);
    if (this.isLeftForGood(before, result)) return void this.rollouts.see(before, { kind: 'clean' });
    if (result.kind === 'failed') this.rollouts.see(before, { kind: 'failed' });
    if (result.kind === 'written') this.written(before, result);
    if ('workload' in result && this.isShown(before, result)) await this.judge(before, result.workload);
    // A new change must not end the judgement of the previous one, so it is last.
    if (result.kind === 'waiting') this.rollouts.see(before, result.observation);
    if ('workload' in result) this.overtaken(before, result.workload);
  }

  /** Nothing is judged. Telemetry is expected once the pods run. */
  private awaitPods(before: ObservedWorkload, result: ChangeResult): void {
    if (!('workload' in result)) return;
    const known = { ...this.term.store.latest(before), judged: injectionStatusText(result.workload.metadata) };
    const seen = observe(result.workload, known, this.rollouts.installed(before), Date.now());
    const isNew = seen.kind === 'status' && seen.completion.kind !== 'no-pods' && known.state?.kind !== 'verified';
    if (seen.kind === 'clean' || isNew) this.rollouts.see(before, seen);
    this.overtaken(before, result.workload);
  }

  /** The watch was ahead of the reading, which then delayed the next one. */
  private overtaken(before: ObservedWorkload, { metadata }: Workload): void {
    const known = this.term.store.latest(before);
    if (known !== undefined && known.resourceVersion !== metadata.resourceVersion) this.rollouts.touch(known);
  }

  private written(before: ObservedWorkload, { change, workload }: Written): void {
    const { store } = this.term;
    const removed = { kind: 'removed', risk: getRisk(workload), mayHang: mayHang(workload) } as const;
    if (change === 'removed') this.rollouts.see(before, removed);
    // The operator's own labels and annotations do not affect pods.
    if (change === 'none' && store.latest(before)?.judged === before.injectionStatus)
      store.update(before, { judged: injectionStatusText(workload.metadata) });
  }

  /** It was reverted, and as it is now it cannot be injected again. The code `reverted` is from a read before the retry. */
  private isLeftForGood(before: ObservedWorkload, result: ChangeResult): boolean {
    if (result.kind !== 'left' || result.decision.code === 'reverted') return false;
    const { kind } = this.term.store.latest(before)?.state ?? idle;
    return (kind === 'queued' || kind === 'blocked') && findRevert(result.workload.metadata) !== undefined;
  }

  private isShown(before: ObservedWorkload, result: ChangeResult): boolean {
    if (result.kind === 'written') return result.change === 'added' || result.change === 'updated';
    if (result.kind !== 'waiting') return result.kind === 'left';
    return isJudged(this.term.store.latest(before)?.state) || isUnjudged(before, result);
  }

  private async judge(before: ObservedWorkload, seen: Workload): Promise<void> {
    const { store, signal } = this.term;
    const known = store.latest(before) ?? before;
    const observation = observe(seen, known, this.rollouts.installed(before), Date.now());
    store.update(before, { judged: injectionStatusText(seen.metadata) });
    if (this.rollouts.see(before, observation) !== 'look-at-pods') return;
    const pods = await this.lookAt(seen).catch(() => undefined);
    if (pods !== undefined && !signal.aborted) this.rollouts.see(before, { kind: 'pods', ...look(pods) });
  }

  async evict(known: ObservedWorkload): Promise<ChangeResult> {
    const { api, logger } = this.term;
    const { namespace } = known;
    const workload = await api.readWorkload(known);
    const broken = await api.brokenPods(workload);
    for (const { name = '', uid = '' } of broken)
      await api.evict({ namespace, name, uid }).then(
        () => logger.info({ namespace, pod: name }, 'broken pod evicted'),
        (error: unknown) =>
          logger.warn({ namespace, pod: name, problem: describeError(error) }, 'cannot evict a broken pod, retrying'),
      );
    return { kind: 'waiting', workload, observation: { kind: 'evicted', isAnyLeft: broken.length > 0 } };
  }
}

/** The controller would wait without end for failing pods of an earlier leader's injection after another change. */
function isUnjudged({ judged }: ObservedWorkload, { observation, workload }: Waiting): boolean {
  const isRolling = observation.kind === 'due' && observation.completion.kind === 'progressing';
  return isRolling && hasInjection(workload) && judged !== injectionStatusText(workload.metadata);
}

import { hasInjection } from '../injection/remove.ts';
import { injectionStatusText, isSameChange } from '../injection/injection-status.ts';
import { findRevert } from '../injection/revert.ts';
import type { Workload } from '../api/objects.ts';
import { undefinedIfNotFound } from '../kubernetes/http/errors.ts';
import { isJudged } from '../rollout/judge.ts';
import { getRisk } from '../rollout/batches.ts';
import { idle } from '../rollout/workload-state.ts';
import { describeError } from '../wording/errors.ts';
import type { ChangeResult, Waiting } from './facts.ts';
import { mayHang, observe } from './observations.ts';
import type { ObservedWorkload } from './observed.ts';
import type { Rollouts } from './rollouts.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

/** The results with the workload as it was read or written. */
type Read = Extract<ChangeResult, { readonly workload: Workload }>;

export class WorkloadJudge {
  constructor(
    private readonly term: ReconcilerContext,
    private readonly rollouts: Rollouts,
  ) {}

  async observe(before: ObservedWorkload, result: ChangeResult): Promise<void> {
    if (result.kind === 'failed') this.rollouts.see(before, { kind: 'failed' });
    if (!('workload' in result)) return;
    if (this.term.config.rolloutStrategy === 'immediate') this.awaitPods(before, result.workload);
    else if (this.isLeftForGood(before, result)) this.rollouts.see(before, { kind: 'clean' });
    else await this.take(before, result);
    this.overtaken(before, result.workload);
  }

  private async take(before: ObservedWorkload, result: Read): Promise<void> {
    const { workload } = result;
    if (result.kind === 'written' && result.change === 'removed') {
      const { decision } = result;
      // A removal for another cause overtakes a revert. Another webhook may strip the record of a revert.
      const kind = decision.kind === 'remove' && decision.cause === 'reverted' ? 'removed' : 'clean';
      this.rollouts.see(before, { kind, risk: getRisk(workload), mayHang: mayHang(workload) });
    }
    if (this.isShown(before, result)) await this.judge(before, result);
    // A new change must not end the judgement of the previous one, so it is last.
    if (result.kind === 'waiting') this.rollouts.see(before, result.observation);
  }

  /** Nothing is judged. Telemetry is expected once the pods run. */
  private awaitPods(before: ObservedWorkload, workload: Workload): void {
    const known = { ...this.term.store.latest(before), judged: injectionStatusText(workload.metadata) };
    const seen = observe(workload, known, this.rollouts.installed(before), Date.now());
    const isNew = seen.kind === 'status' && seen.completion.kind !== 'no-pods' && known.state?.kind !== 'verified';
    if (seen.kind === 'clean' || isNew) this.rollouts.see(before, seen);
  }

  /** The watch was ahead of the reading, which then delayed the next one. */
  private overtaken(before: ObservedWorkload, { metadata }: Workload): void {
    const known = this.term.store.latest(before);
    if (known !== undefined && known.resourceVersion !== metadata.resourceVersion) this.rollouts.touch(known);
  }

  /** It was reverted, and as it is now it cannot be injected again. The code `reverted` is from a read before the retry. */
  private isLeftForGood(before: ObservedWorkload, result: Read): boolean {
    if (result.kind !== 'left' || result.decision.code === 'reverted') return false;
    const { kind } = this.term.store.latest(before)?.state ?? idle;
    return (kind === 'queued' || kind === 'blocked') && findRevert(result.workload.metadata) !== undefined;
  }

  private isShown(before: ObservedWorkload, result: Read): boolean {
    if (result.kind === 'waiting') return isJudged(this.term.store.latest(before)?.state) || isUnjudged(before, result);
    return result.kind === 'left' || result.change !== 'removed';
  }

  private async judge(before: ObservedWorkload, result: Read): Promise<void> {
    const { api, store, signal, logger } = this.term;
    const { workload: seen } = result;
    const { namespace, name } = before;
    const isOwn = result.kind === 'written' && result.change === 'added';
    // A reading may be ahead of the watch, which then shows no change any more.
    const isAhead = before.resourceVersion !== seen.metadata.resourceVersion;
    const known = { ...(store.latest(before) ?? before), isOwn, ...(isAhead && { changedAt: performance.now() }) };
    const observation = observe(seen, known, this.rollouts.installed(before), Date.now());
    store.update(before, { judged: injectionStatusText(seen.metadata) });
    if (this.rollouts.see(before, observation) !== 'look-at-pods') return;
    const found = await api.lookAt(seen).catch((error: unknown) => {
      logger.debug({ kind: seen.kind, namespace, name, problem: describeError(error) }, 'cannot list the pods');
    });
    if (found !== undefined && !signal.aborted) this.rollouts.see(before, { kind: 'pods', ...found });
  }

  async evict(known: ObservedWorkload): Promise<ChangeResult | undefined> {
    const { api, logger } = this.term;
    const { namespace } = known;
    const workload = await api.readWorkload(known).catch(undefinedIfNotFound);
    if (workload?.metadata.uid !== known.uid) return undefined;
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
  return isRolling && hasInjection(workload) && !isSameChange(judged, injectionStatusText(workload.metadata));
}

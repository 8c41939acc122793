import { injectorOf } from '../config/config.ts';
import { isInjected } from '../injection/remove.ts';
import { stampOf, stampText } from '../injection/stamp.ts';
import type { Workload } from '../api/objects.ts';
import { templateOf } from '../injection/workload.ts';
import { look } from '../rollout/evidence.ts';
import { riskOf } from '../rollout/turns.ts';
import { describeError } from '../wording/errors.ts';
import type { ChangeResult, Waiting, Written } from './facts.ts';
import { observe, type Installed } from './observations.ts';
import type { ObservedWorkload } from './observed.ts';
import type { Rollouts } from './rollouts.ts';
import type { Term } from './term.ts';

/** Tells the states of workloads what their changes and readings show. */
export class WorkloadJudge {
  private readonly image: string;

  constructor(
    private readonly term: Term,
    private readonly rollouts: Rollouts,
  ) {
    this.image = injectorOf(term.config).image;
  }

  installed = ({ namespace }: ObservedWorkload): Installed => ({
    ...{ injector: this.rollouts.injectorFor(namespace), image: this.image },
  });

  /** Tells the state of a workload the result of a change. Never rejects. */
  async observe(before: ObservedWorkload, result: ChangeResult): Promise<void> {
    if (this.term.config.rolloutStrategy === 'immediate') return;
    if (result.kind === 'failed') this.rollouts.see(before, { kind: 'failed' });
    if (result.kind === 'waiting') await this.waiting(before, result);
    if (result.kind === 'written') this.written(before, result);
    if ('workload' in result && this.isShown(before, result)) await this.judge(before, result.workload);
  }

  /** An injection of an earlier leader's is judged before a further change: if it fails, the workload would wait for it without end. */
  private async waiting(before: ObservedWorkload, { observation, workload }: Waiting): Promise<void> {
    const isRolling = observation.kind === 'due' && observation.completion.kind === 'progressing';
    const template = templateOf(workload);
    const isNew = template !== undefined && isInjected(template) && before.judged !== stampText(workload.metadata);
    if (isRolling && isNew) await this.judge(before, workload);
    this.rollouts.see(before, observation);
  }

  private written(before: ObservedWorkload, { change, workload }: Written): void {
    const mayHang = workload.kind === 'StatefulSet';
    if (change === 'removed') this.rollouts.see(before, { kind: 'removed', risk: riskOf(workload), mayHang });
    if (change === 'none') this.corrected(before, workload);
  }

  /** Returns whether the result shows how the injection fares, or begins to. */
  private isShown(before: ObservedWorkload, result: ChangeResult): boolean {
    if (result.kind === 'written') return result.change === 'added' || result.change === 'updated';
    const state = this.term.store.latest(before)?.state;
    // A further change that is due does not end the judgement of the one before.
    return result.kind === 'left' || state?.kind === 'rolling' || state?.kind === 'soaking';
  }

  /** Labels and annotations of ours say nothing of its pods. */
  private corrected(before: ObservedWorkload, seen: Workload): void {
    if (stampOf(seen.metadata) === undefined) this.rollouts.see(before, { kind: 'clean' });
    else if (this.term.store.latest(before)?.judged === before.stamp)
      this.term.store.note(before, { judged: stampText(seen.metadata) });
  }

  /** A rollout that stands still is looked at. */
  private async judge(before: ObservedWorkload, seen: Workload): Promise<void> {
    const { store, api, signal } = this.term;
    const observation = observe(seen, store.latest(before) ?? before, this.installed(before), Date.now());
    if (observation.kind === 'injected' || observation.kind === 'standing')
      store.note(before, { judged: stampText(seen.metadata) });
    if (this.rollouts.see(before, observation) !== 'look-at-pods') return;
    const pods = await api.podsOfGeneration(seen).catch(() => undefined);
    if (pods !== undefined && !signal.aborted) this.rollouts.see(before, { kind: 'pods', ...look(pods) });
  }

  /** Evicts the broken pods that the controller of a reverted StatefulSet waits for. */
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
    const observation = { kind: 'evicted', risk: riskOf(workload), isAnyLeft: broken.length > 0 } as const;
    return { kind: 'waiting', workload, observation };
  }
}

import { injectorOf } from '../config/config.ts';
import { isInjected } from '../injection/remove.ts';
import { stampOf, stampText } from '../injection/stamp.ts';
import type { Workload } from '../injection/types.ts';
import { templateOf } from '../injection/workload.ts';
import { isRefusal } from '../kubernetes/http/errors.ts';
import { look } from '../rollout/look.ts';
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
    injector: this.rollouts.injectorFor(namespace),
    image: this.image,
  });

  /** Tells the state of a workload the result of a change. Never rejects. */
  async observe(before: ObservedWorkload, result: ChangeResult): Promise<void> {
    if (this.term.config.rolloutStrategy === 'immediate') return;
    if (result.kind === 'failed') this.rollouts.see(before, { kind: 'failed' });
    if (result.kind === 'waiting') await this.waiting(before, result);
    if (result.kind === 'written') await this.written(before, result);
    // A further change that is due does not end the judgement of the one before.
    const isRead = result.kind === 'left' || (result.kind === 'waiting' && this.isJudged(before));
    if (isRead) await this.judged(before, result.workload);
  }

  /** An injection of an earlier leader's is judged before a further change: if it fails, the workload would wait for it without end. */
  private async waiting(before: ObservedWorkload, { observation, workload }: Waiting): Promise<void> {
    const isRolling = observation.kind === 'due' && observation.completion.kind === 'progressing';
    const template = templateOf(workload);
    const isNew = template !== undefined && isInjected(template) && before.judged !== stampText(workload.metadata);
    if (isRolling && isNew) await this.judged(before, workload);
    this.rollouts.see(before, observation);
  }

  private async written(before: ObservedWorkload, { change, decision, metadata }: Written): Promise<void> {
    const { workload } = decision;
    const mayHang = workload.kind === 'StatefulSet';
    if (change === 'removed') this.rollouts.see(before, { kind: 'removed', risk: riskOf(workload), mayHang });
    if (change === 'none') this.corrected(before, workload);
    if (change !== 'added' && change !== 'updated') return;
    // Its own status is older than what was written.
    const { generation = 0 } = metadata;
    await this.judged(before, { ...workload, metadata: { ...workload.metadata, generation } });
  }

  private isJudged({ kind, namespace, name }: ObservedWorkload): boolean {
    const state = this.term.store.get(kind, namespace, name)?.state;
    return state?.kind === 'rolling' || state?.kind === 'soaking';
  }

  /** Labels and annotations of ours say nothing of its pods. */
  private corrected({ kind, namespace, name, stamp }: ObservedWorkload, seen: Workload): void {
    const known = this.term.store.get(kind, namespace, name);
    if (known === undefined) return;
    if (stampOf(seen.metadata) === undefined) this.rollouts.see(known, { kind: 'clean' });
    else if (known.judged === stamp) this.term.store.note(known, { judged: stampText(seen.metadata) });
  }

  /** A rollout that stands still is looked at. */
  private async judged(before: ObservedWorkload, seen: Workload): Promise<void> {
    const { store, api, signal } = this.term;
    const { kind, namespace, name } = before;
    const known = store.get(kind, namespace, name) ?? before;
    const observation = observe(seen, known, this.installed(before), Date.now());
    if (observation.kind === 'injected' || observation.kind === 'standing')
      store.note(known, { judged: stampText(seen.metadata) });
    if (this.rollouts.see(before, observation) !== 'look-at-pods') return;
    const pods = await api.podsOfGeneration(seen).catch(() => undefined);
    if (pods !== undefined && !signal.aborted) this.rollouts.see(before, { kind: 'pods', ...look(pods) });
  }

  /** Evicts the broken pods that the controller of a reverted StatefulSet waits for. */
  async evict(workload: ObservedWorkload): Promise<ChangeResult> {
    const { api, logger } = this.term;
    const { namespace } = workload;
    try {
      const seen = await api.readWorkload(workload);
      const broken = await api.brokenPods(seen);
      for (const { name = '', uid = '' } of broken)
        await api.evict({ namespace, name, uid }).then(
          () => logger.info({ namespace, pod: name }, 'broken pod evicted'),
          (error: unknown) =>
            logger.warn({ namespace, pod: name, problem: describeError(error) }, 'cannot evict a broken pod, retrying'),
        );
      const observation = { kind: 'evicted', risk: riskOf(seen), isAnyLeft: broken.length > 0 } as const;
      return { kind: 'waiting', metadata: seen.metadata, workload: seen, observation };
    } catch (error) {
      return { kind: 'failed', change: 'none', problem: describeError(error), isRefused: isRefusal(error) };
    }
  }
}

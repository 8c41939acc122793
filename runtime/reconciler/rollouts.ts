import { labelValue } from '../injection/label.ts';
import { NamespaceTurns } from './namespace-turns.ts';
import type { ObservedRollout } from './observed.ts';
import { describeError } from '../wording/errors.ts';
import { EVICTION_MS } from './plan-reverted.ts';
import type { RolloutPlan } from './plan-rollout.ts';
import { PodWatches, type WatchPods } from './pod-watches.ts';
import { observePod } from '../rollout/observe-pod.ts';
import type { ObservedPod } from '../rollout/trial.ts';
import type { Term } from './term.ts';

/** An injection is on trial in so many namespaces at the most. */
const MOST = 50;

/** What the plans of a term's rollouts are made of, and what comes of them beside the changes themselves. */
export class Rollouts {
  private readonly pods: PodWatches<NonNullable<ReturnType<typeof observePod>>>;
  private readonly turns: NamespaceTurns;
  /** The uids of pods whose eviction was asked for just now. */
  private readonly evicted = new Set<string>();

  constructor(
    private readonly term: Term,
    watchPods: WatchPods,
  ) {
    const { enqueue, signal, metrics } = term;
    this.pods = new PodWatches({ watch: watchPods, observe: observePod, onChange: enqueue, signal, most: MOST });
    this.turns = new NamespaceTurns(enqueue);
    signal.addEventListener('abort', () => metrics.rolloutWorkloads.reset(), { once: true });
  }

  observe(namespace: string): ObservedRollout {
    const { config, store } = this.term;
    return {
      settings: {
        soakMs: config.rolloutSoakSeconds * 1_000,
        deadlineMs: config.rolloutDeadlineSeconds * 1_000,
        largestWave: config.rolloutLargestWave,
        label: labelValue(config.version),
      },
      pods: byWorkload(this.pods.in(namespace)),
      hasTurn: this.turns.has(namespace),
      revertedInCluster: store.reverted,
    };
  }

  /** Notes what a plan found out, and sees to what the next one needs. */
  act(namespace: string, { noted, broken, needsPods, wantsTurn, summary }: RolloutPlan): void {
    const { store, enqueue, metrics } = this.term;
    for (const pod of broken) this.evict(namespace, pod);
    for (const [workload, rollout] of noted) store.note(workload, { rollout });
    this.pods.want(namespace, needsPods);
    this.turns.want(namespace, wantsTurn);
    const { underWay, queued, blocked, reverted } = summary;
    const states = { underWay: underWay.length, queued, blocked: blocked.length, reverted: reverted.length };
    for (const [state, number] of Object.entries(states))
      if (number === 0) metrics.rolloutWorkloads.remove({ namespace, state });
      else metrics.rolloutWorkloads.set({ namespace, state }, number);
    if (noted.length > 0) enqueue(namespace);
  }

  private evict(namespace: string, pod: ObservedPod): void {
    const { api, logger } = this.term;
    if (this.evicted.has(pod.uid)) return;
    this.evicted.add(pod.uid);
    setTimeout(() => this.evicted.delete(pod.uid), EVICTION_MS - 1).unref();
    api.evict({ namespace, name: pod.name, uid: pod.uid }).then(
      () => logger.info({ namespace, pod: pod.name }, 'broken pod evicted'),
      (error: unknown) =>
        logger.warn({ namespace, pod: pod.name, problem: describeError(error) }, 'cannot evict a broken pod, retrying'),
    );
  }
}

/** Pods by the workload that they are of (`Kind/name`). */
function byWorkload(pods: readonly NonNullable<ReturnType<typeof observePod>>[] | undefined) {
  if (pods === undefined) return undefined;
  const found = new Map<string, ObservedPod[]>();
  for (const { of, pod } of pods) found.set(of, [...(found.get(of) ?? []), pod]);
  return found;
}

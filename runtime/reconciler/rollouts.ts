import { labelValue } from '../injection/label.ts';
import type { InjectorHealth, NamespaceTally } from '../rollout/injector-health.ts';
import { healthFor, healthIn, healthOfCluster, noTally, seenIn } from '../rollout/injector-health.ts';
import { isJudged, isProof } from '../rollout/judge.ts';
import { transition } from '../rollout/transition.ts';
import { idle, type Action, type Observation, type WorkloadState } from '../rollout/workload-state.ts';
import { NamespaceSlots } from './namespace-slots.ts';
import type { CurrentInjector } from './observations.ts';
import type { ObservedRollout, ObservedWorkload } from './observed.ts';
import type { RolloutPlan } from './plan-rollout.ts';
import type { ReconcilerContext } from './reconciler-context.ts';

/** How long it counts that a workload ran with the injector. Finished Jobs are deleted. */
const RAN_MS = 60 * 60_000;

const toFact = (state: WorkloadState) => ({ state: state.kind === 'idle' ? undefined : state });

export class Rollouts {
  private readonly turns: NamespaceSlots;
  private readonly settings: ObservedRollout['settings'];
  private readonly tallies = new Map<string, NamespaceTally>();
  private cluster: InjectorHealth = 'untried';
  /** When the injector ran last, by namespace. The oldest is first. */
  private readonly ranAt = new Map<string, number>();

  constructor(private readonly term: ReconcilerContext) {
    const { config, enqueue } = term;
    this.settings = {
      soakMs: config.rolloutSoakSeconds * 1_000,
      deadlineMs: config.rolloutDeadlineSeconds * 1_000,
      lookMs: config.rolloutLookSeconds * 1_000,
      largestBatch: config.rolloutLargestBatch,
      strategy: config.rolloutStrategy,
      label: labelValue(config.version),
    };
    this.turns = new NamespaceSlots(enqueue);
  }

  observe(namespace: string): ObservedRollout {
    const hasRun = !this.isOver(this.ranAt.get(namespace));
    return { settings: this.settings, hasSlot: this.turns.has(namespace), injector: this.cluster, hasRun };
  }

  installed({ namespace, kind }: ObservedWorkload): CurrentInjector {
    const own = this.tallies.get(namespace) ?? noTally;
    // A pull secret may lack in one namespace, so each has a first Job.
    const injector = kind.mutable || this.cluster === 'failing' ? healthFor(own, this.cluster) : healthIn(own);
    return { injector, image: this.term.config.injectorImage, isTrying: own.trying + own.first + own.late > 0 };
  }

  see(workload: ObservedWorkload, seen: Observation): Action | undefined {
    const { store } = this.term;
    const known = store.latest(workload);
    if (known === undefined) return undefined;
    const before = known.state ?? idle;
    const now = performance.now();
    const { state, action } = transition(before, seen, now, this.settings);
    if (state !== before) store.update(known, toFact(state));
    this.remember(known.namespace, before, state, now);
    if (before.kind !== 'verified' && isProof(state, now))
      for (const each of store.in(known.namespace)) this.see(each, { kind: 'proven' });
    return action;
  }

  private remember(namespace: string, before: WorkloadState, state: WorkloadState, now: number): void {
    if (state.kind === 'verified' && state.isCurrent && before.kind !== 'verified') {
      this.ranAt.delete(namespace);
      this.ranAt.set(namespace, now);
      const [oldest] = this.ranAt;
      if (oldest !== undefined && this.isOver(oldest[1])) this.ranAt.delete(oldest[0]);
    }
    // Others of its namespace may be read before the next plan counts it.
    if (!isJudged(state) || isJudged(before)) return;
    const own = this.tallies.get(namespace) ?? noTally;
    this.tallies.set(namespace, { ...own, first: own.first + 1 });
  }

  private isOver = (at = -Infinity): boolean => performance.now() - at >= RAN_MS;

  touch(workload: ObservedWorkload): boolean {
    const { store } = this.term;
    const { state } = workload;
    const awaitsChange = state?.kind === 'untested' || state?.kind === 'unready';
    if (state === undefined || ('wakeAt' in state && state.wakeAt === Infinity && !awaitsChange)) return false;
    store.update(workload, { changedAt: performance.now() });
    this.see(workload, { kind: 'touched' });
    return store.latest(workload)?.state !== state;
  }

  act(namespace: string, { stateChanges, wantsSlot, tally }: RolloutPlan): void {
    const { store, enqueue } = this.term;
    for (const workload of stateChanges) store.update(workload, toFact(workload.state ?? idle));
    this.turns.want(namespace, wantsSlot);
    this.count(namespace, tally);
    if (stateChanges.length > 0) enqueue(namespace);
  }

  private count(namespace: string, tally: NamespaceTally): void {
    const before = seenIn(this.tallies.get(namespace) ?? noTally);
    if (Object.values(tally).some((number) => number > 0)) this.tallies.set(namespace, tally);
    else this.tallies.delete(namespace);
    // The rest of a tally says nothing about the cluster.
    if (seenIn(tally) === before) return;
    const cluster = healthOfCluster(this.tallies.values());
    if (cluster === this.cluster) return;
    this.cluster = cluster;
    for (const each of this.term.lumigoes.namespaces()) this.term.enqueue(each);
  }
}

import { injectorOf } from '../config/config.ts';
import { eventReasons, workloads } from '../contract.ts';
import { fingerprint } from '../injection/fingerprint.ts';
import type { NamespacePolicy } from '../injection/types.ts';
import { isConflict, isNotFound, isThrottled } from '../kubernetes/http/errors.ts';
import { observeModePod, type ModePod } from '../rollout/mode-pod.ts';
import { againAfterMs } from '../rollout/evictable.ts';
import type { PodTrial } from '../rollout/judge-pods.ts';
import { describeError } from '../wording/errors.ts';
import { NamespaceTurns } from './namespace-turns.ts';
import type { ObservedPods } from './observed.ts';
import { isOfPods } from './plan-pods.ts';
import type { PodsPlan } from './plan-next-pods.ts';
import { PodWatches, type WatchPods } from './pod-watches.ts';
import type { Term } from './term.ts';

type State = { -readonly [K in 'trial' | 'restUntil' | 'resumedAt']: ObservedPods[K] } & {
  policy: NamespacePolicy;
  /** Whose controller is being read. */
  asked?: PodTrial | undefined;
  readonly keptUntil: Map<string, number>;
};

/** So many namespaces in Pod mode are watched; in others pods are injected all the same, and none is evicted. */
const MOST = 500;
/** For so long one that was evicted is not asked for again: the watch shows it going. */
const ASKED_MS = 30_000;
/** So long it takes until the API servers call the webhook for a namespace, and until a controller has seen that a pod is gone. */
const [KNOWN_MS, SETTLE_MS] = [5_000, 2_000];

/** The pods of namespaces in Pod mode during a term: what is seen of them, and those that are evicted. */
export class Evictions {
  private readonly pods: PodWatches<ModePod>;
  private readonly turns: NamespaceTurns;
  private readonly states = new Map<string, State>();
  private readonly injector: string;

  constructor(
    private readonly term: Term,
    watchPods: WatchPods,
  ) {
    const { enqueue, signal, config } = term;
    const injector = injectorOf(config);
    this.injector = fingerprint(injector);
    const observe = (pod: object) => observeModePod(pod as Parameters<typeof observeModePod>[0], injector);
    this.pods = new PodWatches({ watch: watchPods, observe, onChange: enqueue, signal, most: MOST });
    this.turns = new NamespaceTurns(enqueue);
  }

  /** Undefined where pods are nobody's matter. */
  observe(namespace: string, policy: NamespacePolicy): ObservedPods | undefined {
    const isNeeded = this.term.config.podMode && isOfPods(policy);
    this.pods.want(namespace, isNeeded);
    if (!isNeeded) {
      this.states.delete(namespace);
      this.turns.want(namespace, false);
      return undefined;
    }
    return {
      ...this.stateOf(namespace, policy),
      list: this.pods.in(namespace),
      hasTurn: this.turns.has(namespace),
      strategy: this.term.config.rolloutStrategy,
      injector: this.injector,
    };
  }

  /** Notes what a plan found out, and begins what it asks for; never throws. */
  act(namespace: string, plan: PodsPlan | undefined): void {
    const state = this.states.get(namespace);
    if (plan === undefined || state === undefined) return;
    state.trial = plan.trial;
    state.restUntil = plan.restUntil;
    if (plan.resumes === true) state.resumedAt = Date.now();
    this.turns.want(namespace, plan.wantsTurn);
    for (const pod of plan.evict) this.begin(pod, state);
    if (plan.asksOwner === true && plan.trial !== undefined) this.ask(namespace, state, plan.trial);
  }

  /** How many pods the controller is to have: a kind that nobody here knows wants what it had. */
  private ask(namespace: string, state: State, trial: PodTrial): void {
    const { api, logger, signal, enqueue } = this.term;
    if (state.asked === trial) return;
    state.asked = trial;
    const kind = workloads.find((each) => each.kind === trial.owner.kind);
    const owner = { ...trial.owner, namespace };
    const wanted = kind === undefined ? Promise.resolve(trial.before.size) : api.wantedBy({ ...owner, kind });
    void wanted.then(
      (found) => {
        if (state.trial === trial) state.trial = { ...trial, wanted: found };
        enqueue(namespace);
      },
      (error: unknown) => {
        state.asked = undefined;
        if (signal.aborted) return;
        const fields = { namespace, pod: trial.name, problem: describeError(error) };
        logger.warn(fields, 'cannot read the controller of an evicted pod, retrying');
      },
    );
  }

  private stateOf(namespace: string, policy: NamespacePolicy): State {
    const known = this.states.get(namespace);
    if (known !== undefined && known.policy.state === policy.state) {
      known.policy = policy;
      return known;
    }
    const restUntil = performance.now() + KNOWN_MS;
    const state: State = { policy, trial: undefined, restUntil, resumedAt: 0, keptUntil: new Map() };
    this.states.set(namespace, state);
    return state;
  }

  private begin(pod: ModePod, state: State): void {
    const { api, signal, enqueue, metrics } = this.term;
    const now = performance.now();
    for (const [uid, until] of state.keptUntil) if (until <= now) state.keptUntil.delete(uid);
    state.keptUntil.set(pod.uid, now + ASKED_MS);
    const trial = this.trialOf(pod, state.policy);
    if (trial === undefined) state.restUntil = now + SETTLE_MS;
    else state.trial = trial;
    void api.evict(pod).then(
      () => {
        metrics.evictions.inc({ outcome: 'evicted' });
        this.tell(pod, state.policy);
      },
      (error: unknown) => {
        if (state.trial === trial) state.trial = undefined;
        if (!signal.aborted) this.failed(pod, state, error);
        enqueue(pod.namespace);
      },
    );
  }

  /** What is to be awaited before the next; undefined where nothing is. */
  private trialOf({ namespace, name, uid, owner }: ModePod, policy: NamespacePolicy): PodTrial | undefined {
    const isAwaited = policy.state === 'pods' && policy.halted === undefined;
    if (!isAwaited || owner === undefined || this.term.config.rolloutStrategy === 'immediate') return undefined;
    const own = (this.pods.in(namespace) ?? []).filter((each) => each.owner?.uid === owner.uid);
    const before = new Set(own.map((each) => each.uid));
    return { name, uid, owner, before, at: Date.now(), goneAt: undefined, wanted: undefined };
  }

  private failed(pod: ModePod, state: State, error: unknown): void {
    const { logger, metrics } = this.term;
    const { namespace, name } = pod;
    if (isNotFound(error)) return;
    state.keptUntil.set(pod.uid, performance.now() + againAfterMs(error));
    // Nothing to tell anybody.
    if (isConflict(error)) return;
    const isBudget = isThrottled(error);
    metrics.evictions.inc({ outcome: isBudget ? 'kept' : 'failed' });
    if (!isBudget) logger.warn({ namespace, pod: name, problem: describeError(error) }, 'cannot evict a pod, retrying');
  }

  private tell({ namespace, name, uid }: ModePod, policy: NamespacePolicy): void {
    const { events, logger } = this.term;
    const brings = policy.state === 'pods' && policy.halted === undefined;
    logger.info({ namespace, pod: name, injection: brings }, 'pod evicted');
    events.add({
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid, resourceVersion: '' },
      reason: eventReasons.evicted,
      type: 'Normal',
      message: `Evicted so that the replacement of this pod starts ${brings ? 'with' : 'without'} Lumigo instrumentation`,
      key: eventReasons.evicted,
    });
  }
}

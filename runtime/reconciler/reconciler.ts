import { isDeepStrictEqual } from 'node:util';
import type { WorkloadKind } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';
import type { LumigoResource, Problem } from '../api/lumigo.ts';
import type { ListWatchHandler } from '../kubernetes/watch/list-watch.ts';
import { isActing } from '../lumigo/lumigo-store.ts';
import type { TokenSeen } from '../token-checks/decide-seen.ts';
import { WorkloadChanger } from './change-workload.ts';
import { telemetryFailed } from './describe-events.ts';
import { EventRecorder } from './event-recorder.ts';
import { Executor } from './executor.ts';
import { WorkloadJudge } from './judge-workload.ts';
import { LumigoWriter } from './lumigo-writer.ts';
import type { WebhookSeen } from '../webhook/probe.ts';
import type { ObservedCredential, ObservedNamespace } from './observed.ts';
import { planNamespace } from './plan-namespace.ts';
import { Planner } from './planner.ts';
import { PodCounts } from './pod-counts.ts';
import type { Candidate } from '../webhook/probe.ts';
import { Rollouts } from './rollouts.ts';
import type { Term } from './term.ts';
import { WorkloadStore } from './workload-store.ts';

interface ReconcilerOptions extends Omit<Term, 'store' | 'enqueue'> {
  /** What is known of the token of the Lumigo that acts in a namespace; undefined until its Secret was read. */
  readonly credential: (namespace: string, acting: LumigoResource | undefined) => ObservedCredential | undefined;
  /** Told whenever the first workload of the cluster is instrumented, or the last one is not any more. */
  readonly onInstrumented: () => void;
}

/** A failure of all is an event on this number of `Lumigo` resources, and a condition of each. */
const MOST_REPORTED = 20;
/** What the API server said of a namespace's Lumigo resources is believed for so long. */
const GONE_MS = 5_000;

/**
 * The reconciler, for one term of this replica's leadership: what is seen is noted, each namespace that it concerns is planned
 * anew (plan-namespace.ts), the plan is worked off (executor.ts), and what came of it is noted in turn. Nothing else decides.
 */
export class Reconciler {
  private readonly store = new WorkloadStore(() => performance.now());
  private readonly recorder: EventRecorder;
  private readonly planner: Planner;
  private readonly executor: Executor;
  private readonly writer: LumigoWriter;
  private readonly rollouts: Rollouts;
  private readonly podCounts: PodCounts;
  /** When the API server last said that a namespace has no Lumigo. */
  private readonly goneAt = new Map<string, number>();
  private webhook: WebhookSeen | undefined;
  private telemetry: Problem | 'working' | undefined;
  /** By namespace. */
  private readonly tokens = new Map<string, TokenSeen>();
  /** The namespaces in which workloads wait for a change or are being changed. */
  private readonly pending = new Set<string>();
  private wasAnyInstrumented = false;
  private begun = false;

  constructor(private readonly options: ReconcilerOptions) {
    const { api, config, signal, logger, metrics } = options;
    const term: Term = { ...options, store: this.store, enqueue: (namespace) => this.enqueue(namespace) };
    this.recorder = new EventRecorder(term);
    this.writer = new LumigoWriter(term, (...listed) => this.adopt(...listed));
    this.rollouts = new Rollouts(term);
    this.podCounts = new PodCounts(term);
    const changer = new WorkloadChanger(term, this.recorder, new WorkloadJudge(term, this.rollouts));
    this.executor = new Executor({
      pace: config,
      pages: api.pages,
      change: (change, fresh) => changer.change(change, fresh),
      logger,
      signal,
    });
    this.planner = new Planner((namespace) => this.plan(namespace), term);
    signal.addEventListener('abort', () => metrics.pendingChanges.reset(), { once: true });
  }

  handler(kind: WorkloadKind): ListWatchHandler {
    return {
      upsert: ({ metadata }, isListed) => this.see(kind, metadata, isListed),
      delete: ({ namespace = '', name, uid }) => {
        if (this.store.delete(kind, namespace, name, uid)) this.enqueue(namespace);
      },
      known: () => this.store.known(kind),
    };
  }

  /** All workloads and all Lumigo resources are known: a half-filled store would look like missing ones. */
  begin(): void {
    const { lumigoes, logger, onInstrumented } = this.options;
    this.begun = true;
    let workloads = 0;
    for (const namespace of new Set([...this.store.namespaces(), ...lumigoes.namespaces()])) {
      const there = this.store.in(namespace);
      for (const workload of there) this.recorder.stamped(workload, lumigoes.policy(namespace));
      workloads += there.length;
      this.enqueue(namespace);
    }
    logger.info({ workloads }, 'reconciler ready');
    onInstrumented();
    void this.podCounts.run();
  }

  enqueue(namespace: string): void {
    if (this.begun) this.planner.request(namespace);
  }

  onWebhook(webhook: WebhookSeen): void {
    const { logger, metrics } = this.options;
    metrics.webhookReachable.set(webhook.reachable ? 1 : 0);
    if (isDeepStrictEqual(webhook, this.webhook)) return;
    if (!webhook.reachable)
      logger.warn({ reason: webhook.reason, problem: webhook.message }, 'API server cannot reach the webhook');
    this.webhook = webhook;
    this.enqueueLumigoes();
  }

  /** A Lumigo that acts, and where there is one a workload of its namespace. */
  toProbeWith(): Candidate | undefined {
    const { lumigoes } = this.options;
    for (const namespace of lumigoes.namespaces()) {
      const lumigo = lumigoes.acting(namespace);
      if (lumigo === undefined || !isActing(lumigoes.policy(namespace))) continue;
      for (const { kind, name, deleting } of this.store.in(namespace))
        if (kind.mutable && !deleting) return { lumigo, workload: { ...kind, kind, namespace, name } };
    }
    const lumigo = lumigoes.active();
    return lumigo && { lumigo, workload: undefined };
  }

  /** The telemetry proxy collects as it should, or does not: then why, and for which Lumigo resources. */
  onTelemetry(telemetry: Problem | 'working', affected: readonly LumigoResource[]): void {
    if (isDeepStrictEqual(telemetry, this.telemetry)) return;
    this.telemetry = telemetry;
    this.enqueueLumigoes();
    if (telemetry === 'working') return;
    const key = new Date().toISOString();
    for (const lumigo of affected.slice(0, MOST_REPORTED))
      this.options.events.add(telemetryFailed(lumigo, telemetry.message, key));
  }

  /** What is seen of the token of a namespace; undefined: nothing any more. */
  onToken(namespace: string, seen: TokenSeen | undefined): void {
    if (isDeepStrictEqual(seen, this.tokens.get(namespace))) return;
    if (seen === undefined) this.tokens.delete(namespace);
    else this.tokens.set(namespace, seen);
    this.enqueue(namespace);
  }

  private enqueueLumigoes(): void {
    for (const namespace of this.options.lumigoes.namespaces()) this.enqueue(namespace);
  }

  get underWay(): number {
    return this.executor.underWay;
  }

  /** Whether any workload of the cluster is instrumented; undefined until all are known. */
  isAnyInstrumented(): boolean | undefined {
    return this.begun ? this.store.instrumented > 0 : undefined;
  }

  private see(kind: WorkloadKind, metadata: Metadata, isListed: boolean): void {
    const seen = this.store.upsert(kind, metadata, isListed);
    if (seen === undefined || !this.begun) return;
    const { workload, before } = seen;
    // What its controller reports stands in its status, which the next reading shows.
    const isTouched = before?.resourceVersion !== workload.resourceVersion && this.rollouts.touch(workload);
    if (isTouched) this.enqueue(workload.namespace);
    if (!seen.changed) return;
    const isEcho = before?.attempt !== undefined && before.attempt.stamp === workload.stamp;
    if (!isEcho) this.recorder.seen(workload, before, this.options.lumigoes.policy(workload.namespace));
    this.enqueue(workload.namespace);
  }

  /** One plan of a namespace, and everything that it asks for begun; returns when to plan again if nothing is seen before. */
  private plan(namespace: string): number {
    const { config, lumigoes, credential, events } = this.options;
    const now = performance.now();
    const acting = lumigoes.acting(namespace);
    const observed: ObservedNamespace = {
      policy: lumigoes.policy(namespace),
      isLumigoGone: (this.goneAt.get(namespace) ?? -Infinity) + GONE_MS > now,
      lumigoes: lumigoes.in(namespace).map((lumigo) => this.writer.observe(lumigo)),
      acting: acting?.metadata.uid,
      credential: credential(namespace, acting),
      workloads: this.store.in(namespace),
      webhook: this.webhook,
      telemetry: this.telemetry,
      token: this.tokens.get(namespace) ?? {},
      untold: events.pending(namespace),
      removalDeadlineMs: config.removalDeadlineSeconds * 1_000,
      underWay: this.pending.size,
      rollout: this.rollouts.observe(namespace),
      pods: this.podCounts.of(namespace),
    };
    const plan = planNamespace(observed, { ms: now, iso: new Date().toISOString().replace(/\.\d+Z$/, 'Z') });
    this.executor.plan(namespace, plan.changes);
    this.writer.begin(plan.lumigoes, observed.lumigoes);
    this.rollouts.act(namespace, plan.rollout);
    if (plan.confirmGone) this.confirm(namespace);
    this.count(namespace, plan.progress.pending + plan.rollout.summary.queued);
    return plan.wakeAt;
  }

  private count(namespace: string, pending: number): void {
    const { metrics, onInstrumented } = this.options;
    this.pending[pending > 0 ? 'add' : 'delete'](namespace);
    if (pending > 0) metrics.pendingChanges.set({ namespace }, pending);
    else metrics.pendingChanges.remove({ namespace });
    if (this.wasAnyInstrumented === this.store.instrumented > 0) return;
    this.wasAnyInstrumented = !this.wasAnyInstrumented;
    onInstrumented();
  }

  /** Asks the API server itself whether there is no Lumigo: a watch may be late. */
  private confirm(namespace: string): void {
    const { api, lumigoes, signal } = this.options;
    void api.hasLumigo(namespace).then(
      (has) => {
        if (has || signal.aborted || lumigoes.in(namespace).length > 0) return;
        this.goneAt.set(namespace, performance.now());
        this.planner.request(namespace);
      },
      () => undefined,
    );
  }

  /** What an earlier leader listed: since when each workload is instrumented, and what it did not get to tell. */
  private adopt(lumigo: LumigoResource, listed: ReadonlyMap<string, string>): void {
    const { namespace } = lumigo.metadata;
    for (const workload of this.store.in(namespace)) {
      const instrumentedVersion = listed.get(workload.uid);
      if (instrumentedVersion === undefined) continue;
      const noted = this.store.note(workload, { instrumentedVersion });
      // Nothing of an injection is there, nor why there is none any more.
      const isClean = noted?.stamp === undefined && noted?.label === undefined;
      if (noted !== undefined && isClean) this.recorder.removed(noted, this.options.lumigoes.policy(namespace));
    }
  }
}

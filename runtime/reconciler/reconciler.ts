import { isDeepStrictEqual } from 'node:util';
import type { WorkloadKind } from '../contract.ts';
import type { Metadata } from '../api/objects.ts';
import type { LumigoResource, Problem } from '../api/lumigo.ts';
import type { ListWatchHandler } from '../kubernetes/watch/watch-position.ts';
import type { PodsSeen } from '../pod-mode/pod-counts.ts';
import type { TokenSeen } from '../token-checks/plan-checks.ts';
import { WorkloadChanger } from './change-workload.ts';
import { telemetryFailed } from './describe-events.ts';
import { EventRecorder } from './event-recorder.ts';
import { Executor } from './executor.ts';
import { LumigoWriter } from './lumigo-writer.ts';
import { resetShown, showPlan } from './namespace-metrics.ts';
import type { ObservedCredential, ObservedNamespace, ObservedWorkload } from './observed.ts';
import { judgedBefore } from './observations.ts';
import { planNamespace } from './plan-namespace.ts';
import { planTelemetry } from './plan-telemetry.ts';
import { Planner } from './planner.ts';
import type { Candidate, WebhookSeen } from '../webhook/probe.ts';
import { Rollouts } from './rollouts.ts';
import type { ReconcilerContext } from './reconciler-context.ts';
import { WorkloadStore } from './workload-store.ts';

interface ReconcilerOptions extends Omit<ReconcilerContext, 'store' | 'enqueue'> {
  readonly credential: (namespace: string, effective: LumigoResource | undefined) => ObservedCredential | undefined;
  /** Called when the first workload is instrumented, and when the last one no longer is. */
  readonly onInstrumented: () => void;
}

/** A common failure is an event on this number of `Lumigo` resources, and a condition of each. */
const MAX_REPORTED = 20;

/** Observes, plans (plan-namespace.ts) and executes for one term of leadership. */
export class Reconciler {
  private readonly store = new WorkloadStore();
  private readonly recorder: EventRecorder;
  private readonly planner: Planner;
  private readonly executor: Executor;
  private readonly writer: LumigoWriter;
  private readonly rollouts: Rollouts;
  private webhook: WebhookSeen | undefined;
  private telemetry: Problem | 'working' | undefined;
  private received: ReadonlySet<string> = new Set();
  private readonly tokens = new Map<string, TokenSeen>();
  private readonly pods = new Map<string, PodsSeen>();
  private readonly pending = new Set<string>();
  private wasAnyInstrumented = false;
  private begun = false;

  constructor(private readonly options: ReconcilerOptions) {
    const { signal, metrics } = options;
    const term: ReconcilerContext = { ...options, store: this.store, enqueue: (namespace) => this.enqueue(namespace) };
    this.recorder = new EventRecorder(term);
    this.writer = new LumigoWriter(term);
    this.rollouts = new Rollouts(term);
    this.executor = new Executor(term, new WorkloadChanger(term, this.recorder, this.rollouts));
    this.planner = new Planner((namespace) => this.plan(namespace), term);
    signal.addEventListener('abort', () => resetShown(metrics), { once: true });
  }

  handler(kind: WorkloadKind): ListWatchHandler {
    return {
      upsert: ({ metadata }, isListed) => this.see(kind, metadata, isListed),
      delete: ({ namespace = '', name, uid }) => {
        if (this.store.delete({ kind, namespace, name, uid })) this.enqueue(namespace);
      },
      known: () => this.store.known(kind),
    };
  }

  /** Call it once all workloads are known. Otherwise plans would lack some. */
  begin(): void {
    const { lumigoes, logger, onInstrumented, since } = this.options;
    this.begun = true;
    let workloads = 0;
    for (const namespace of new Set([...this.store.namespaces(), ...lumigoes.namespaces()])) {
      const there = this.store.in(namespace);
      const policy = lumigoes.policy(namespace);
      // The original operator writes no generation.
      const { conditions = [], observedGeneration } = lumigoes.effective(namespace)?.status ?? {};
      const active = observedGeneration === undefined ? undefined : conditions.find(({ type }) => type === 'Active');
      for (const workload of there) {
        const facts = this.recorder.begin(workload, policy, active?.lastTransitionTime);
        const expectedUnder = workload.createdAt > since ? lumigoes.atCreation(workload) : undefined;
        this.store.update(workload, { ...facts, ...judgedBefore(workload, Date.now()), expectedUnder });
      }
      workloads += there.length;
      this.enqueue(namespace);
    }
    logger.info({ workloads }, 'reconciler ready');
    onInstrumented();
  }

  enqueue(namespace: string): void {
    if (this.begun) this.planner.request(namespace);
  }

  onWebhook(webhook: WebhookSeen | undefined): void {
    const { logger, metrics } = this.options;
    if (webhook === undefined) return metrics.webhookReachable.remove();
    metrics.webhookReachable.set(webhook === 'working' ? 1 : 0);
    if (isDeepStrictEqual(webhook, this.webhook)) return;
    if (webhook !== 'working')
      logger.warn({ reason: webhook.reason, problem: webhook.message }, 'API server cannot reach the webhook');
    this.webhook = webhook;
    this.enqueueLumigoes();
  }

  toProbeWith(): Candidate[] {
    const { lumigoes } = this.options;
    const all = lumigoes.namespaces().flatMap((namespace) => {
      const lumigo = lumigoes.effective(namespace);
      if (lumigo === undefined || lumigoes.policy(namespace).kind !== 'active') return [];
      const found = this.store.in(namespace).find(({ kind, deleting }) => kind.mutable && !deleting);
      return [{ lumigo, workload: found && { ...found.kind, kind: found.kind, namespace, name: found.name } }];
    });
    const withWorkload = all.filter(({ workload }) => workload !== undefined);
    return withWorkload.length > 0 ? withWorkload : all;
  }

  onTelemetry(telemetry: Problem | 'working', affected: readonly LumigoResource[]): void {
    if (isDeepStrictEqual(telemetry, this.telemetry)) return;
    this.telemetry = telemetry;
    this.enqueueLumigoes();
    if (telemetry === 'working') return;
    const key = new Date().toISOString();
    for (const lumigo of affected.slice(0, MAX_REPORTED))
      this.options.events.add(telemetryFailed(lumigo, telemetry.message, key));
  }

  onToken = (namespace: string, seen: TokenSeen | undefined): void => this.keep(this.tokens, namespace, seen);
  onPods = (namespace: string, seen: PodsSeen | undefined): void => this.keep(this.pods, namespace, seen);

  /** `uids`: all workloads that any replica's telemetry proxy received something from. */
  onReceived(uids: ReadonlySet<string>): void {
    this.received = uids;
    this.enqueueLumigoes();
  }

  private keep<T>(known: Map<string, T>, namespace: string, seen: T | undefined): void {
    if (isDeepStrictEqual(seen, known.get(namespace))) return;
    if (seen === undefined) known.delete(namespace);
    else known.set(namespace, seen);
    this.enqueue(namespace);
  }

  private enqueueLumigoes(): void {
    for (const namespace of this.options.lumigoes.namespaces()) this.enqueue(namespace);
  }

  isAnyInstrumented = (): boolean | undefined => (this.begun ? this.store.removable > 0 : undefined);

  private see(kind: WorkloadKind, metadata: Metadata, isListed: boolean): void {
    const seen = this.store.upsert(kind, metadata, isListed);
    if (seen === undefined || !this.begun) return;
    const { workload, before, changed } = seen;
    const isTouched = before?.resourceVersion !== workload.resourceVersion && this.rollouts.touch(workload);
    if (changed) this.changed(workload, before);
    if (changed || isTouched) this.enqueue(workload.namespace);
  }

  private changed(workload: ObservedWorkload, before: ObservedWorkload | undefined): void {
    const { lumigoes } = this.options;
    if (before === undefined) this.store.update(workload, { expectedUnder: lumigoes.atCreation(workload) });
    const isEcho = before?.inFlight !== undefined && before.inFlight.injectionStatus === workload.injectionStatus;
    if (!isEcho) this.recorder.seen(workload, before, lumigoes.policy(workload.namespace), 'webhook');
  }

  private plan(namespace: string): number {
    const { config, lumigoes, credential, events, metrics, onInstrumented } = this.options;
    const now = { ms: performance.now(), iso: new Date().toISOString().replace(/\.\d+Z$/, 'Z') };
    const effective = lumigoes.effective(namespace);
    const policy = lumigoes.policy(namespace);
    for (const { workload, ...facts } of planTelemetry(this.store.in(namespace), policy, this.received, now))
      this.store.update(workload, facts);
    const observed: ObservedNamespace = {
      policy,
      lumigoes: this.writer.states.observe(namespace, lumigoes.in(namespace)),
      effective: effective?.metadata.uid,
      credential: credential(namespace, effective),
      workloads: this.store.in(namespace),
      webhook: this.webhook,
      telemetry: this.telemetry,
      token: this.tokens.get(namespace) ?? {},
      pendingEvents: events.pending(namespace),
      removalDeadlineMs: config.removalDeadlineSeconds * 1_000,
      underWay: this.pending.size,
      telemetryExpectedWithinMs: config.telemetryExpectedWithinSeconds * 1_000,
      rollout: this.rollouts.observe(namespace),
      pods: this.pods.get(namespace),
    };
    const plan = planNamespace(observed, now);
    this.executor.plan(namespace, plan.changes);
    this.writer.begin(plan.lumigoActions, observed.lumigoes);
    this.rollouts.act(namespace, plan.rollout);
    showPlan(metrics, namespace, plan);
    if (plan.progress.pending + plan.rollout.summary.queued > 0) this.pending.add(namespace);
    else this.pending.delete(namespace);
    if (this.wasAnyInstrumented !== this.store.removable > 0) {
      this.wasAnyInstrumented = !this.wasAnyInstrumented;
      onInstrumented();
    }
    return plan.wakeAt;
  }
}

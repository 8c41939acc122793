import type { Logger } from 'pino';
import { eventReasons, probeLabel, workloads as kinds, type WorkloadKind } from '../contract.ts';
import type { ReadSecret } from '../credential.ts';
import { describeError } from '../errors.ts';
import type { InjectorSettings, LumigoResource, Metadata } from '../injection/types.ts';
import type { LumigoStore } from '../lumigo-store.ts';
import type { Metrics } from '../metrics.ts';
import type { ReconcilerApi } from './api.ts';
import { Changer } from './changer.ts';
import type { Problem } from '../problem.ts';
import { converge } from './converge.ts';
import { KeyQueue } from './key-queue.ts';
import { LumigoWriter } from './lumigo-writer.ts';
import { NamespaceReconciler } from './namespace-reconciler.ts';
import { Pacing, type Pace } from './pacing.ts';
import { probeWebhook } from './probe.ts';
import { Reporter } from './reporter.ts';
import { WorkloadObserver } from './workload-observer.ts';
import { WorkloadStore } from './workload-store.ts';

export interface LeaderOptions {
  readonly api: ReconcilerApi;
  readonly readSecret: ReadSecret;
  readonly lumigoes: LumigoStore;
  readonly injector: InjectorSettings;
  readonly renew: boolean;
  readonly pace: Pace;
  readonly removalDeadlineMs: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Ends the leadership: nothing is written once it is aborted. */
  readonly signal: AbortSignal;
  /** When an earlier leader was last alive (ISO 8601); undefined when there was none. */
  readonly previousRenewTime: string | undefined;
  /** Watches the metadata of one kind; resolves once everything there is was shown. */
  readonly watch: (kind: WorkloadKind, handler: WatchHandler) => Promise<void>;
}

export interface WatchHandler {
  readonly upsert: (object: { metadata: Metadata }) => void;
  readonly delete: (identity: { namespace: string; name: string; uid: string }) => void;
  readonly known: () => Iterable<{ namespace: string; name: string; uid: string }>;
}

/** An earlier leader told of a change within seconds; twice told is prevented by the event's name, for an hour. */
const TELLING_MS = 10 * 60_000;
const STATUS_MS = 1_000;
/** A failure of all is told to some, as an event; the condition tells everybody. */
const TOLD = 20;

/** What the reconciler wants to be told for as long as this replica leads. */
export interface Reconciling {
  /** A Lumigo of this namespace changed. */
  readonly onLumigo: (namespace: string) => void;
  /** Another token stands in a Secret of this namespace, or none any more. */
  readonly onToken: (namespace: string) => void;
  /** The telemetry proxy collects as it should, or does not: then why, and for which Lumigo resources. */
  readonly onTelemetry: (problem: Problem | 'working', affected: readonly LumigoResource[]) => void;
  /** Whether any workload of the cluster is instrumented. */
  readonly isAnyInstrumented: () => boolean;
  readonly synced: Promise<void>;
}

/** The reconciler, for as long as this replica leads. */
export function startReconciling(options: LeaderOptions): Reconciling {
  const { api, lumigoes, logger, signal, metrics } = options;
  const store = new WorkloadStore();
  let webhook: Problem | 'reachable' | undefined;
  let telemetry: Problem | 'working' | undefined;
  const reporter = new Reporter({
    post: async (record, event) => {
      await api.postEvent(record, event);
      metrics.events.inc({ reason: event.reason });
    },
    logger,
    signal,
    since: sinceOf(options.previousRenewTime),
  });
  const changer: Changer = new Changer({
    pacing: new Pacing(options.pace),
    logger,
    signal,
    pages: api.pages,
    converge: (record, fresh) =>
      converge(record, fresh, {
        store,
        reporter,
        injector: options.injector,
        renew: options.renew,
        policy: (namespace) => namespaces.policy(namespace),
        read: api.readWorkload,
        write: api.writeWorkload,
        logger,
        onChanged: (change, missed) => {
          metrics.changes.inc({ change });
          if (missed) metrics.missedInjections.inc();
        },
        now: () => new Date().toISOString(),
      }),
    onProgress: (namespace, pending) => {
      if (pending === 0) metrics.pendingChanges.remove({ namespace });
      else metrics.pendingChanges.set({ namespace }, pending);
      if (lumigoes.in(namespace).length > 0) queue.addAfter(namespace, pending === 0 ? STATUS_MS / 5 : STATUS_MS);
    },
    onUnsettled: (record) => observer.reconsider(record),
  });
  const namespaces: NamespaceReconciler = new NamespaceReconciler({
    lumigoes,
    workloads: store,
    writer: new LumigoWriter({ lumigoes, writeFinalizers: api.writeFinalizers, mergeStatus: api.mergeStatus }),
    readSecret: options.readSecret,
    readLumigo: api.readLumigo,
    request: (record) => changer.request(record),
    pending: (namespace) => changer.pending(namespace),
    onVanished: (record) => reporter.changed(record, lumigoes.policy(record.namespace), 'removed'),
    webhook: () => webhook,
    telemetry: () => telemetry,
    removalDeadlineMs: options.removalDeadlineMs,
    logger,
    now: Date.now,
  });
  const queue: KeyQueue = new KeyQueue({
    work: (namespace) => namespaces.reconcile(namespace),
    workers: 4,
    signal,
    onError: (namespace, error, retryInMs) =>
      logger.warn({ namespace, problem: describeError(error), retryInMs }, 'namespace not reconciled'),
  });
  const observer = new WorkloadObserver({
    store,
    reporter,
    policy: (namespace) => namespaces.policy(namespace),
    request: (record) => changer.request(record),
    onStatusChange: (namespace) => {
      if (lumigoes.in(namespace).length > 0) queue.addAfter(namespace, STATUS_MS);
    },
  });
  const watched = kinds.map((kind) => options.watch(kind, observer.handler(kind)));
  const synced = Promise.all(watched).then(() => {
    if (signal.aborted) return;
    logger.info({ workloads: store.size }, 'reconciler ready');
    observer.begin();
    for (const namespace of lumigoes.namespaces()) queue.add(namespace);
  });
  void probeWebhook({
    signal,
    candidate: () => lumigoes.active(),
    dryRun: (lumigo, probe) => api.dryRunLabel(lumigo, probeLabel, probe),
    onResult: (result) => {
      metrics.webhookReachable.set(result === 'reachable' ? 1 : 0);
      if (JSON.stringify(result) === JSON.stringify(webhook)) return;
      if (result !== 'reachable')
        logger.warn({ reason: result.reason, problem: result.message }, 'webhook not reachable');
      webhook = result;
      for (const namespace of lumigoes.namespaces()) queue.add(namespace);
    },
  });
  return {
    onLumigo: (namespace) => void synced.then(() => queue.add(namespace)),
    onToken: (namespace) => {
      namespaces.recheckCredential(namespace);
      void synced.then(() => queue.add(namespace));
    },
    onTelemetry: (result, affected) => {
      if (JSON.stringify(result) === JSON.stringify(telemetry)) return;
      telemetry = result;
      for (const namespace of lumigoes.namespaces()) queue.add(namespace);
      if (result === 'working') return;
      const event = { reason: eventReasons.telemetryFailed, message: result.message, key: new Date().toISOString() };
      for (const lumigo of affected.slice(0, TOLD))
        api.postLumigoEvent(lumigo, event).catch((error: unknown) => {
          logger.warn({ namespace: lumigo.metadata.namespace, problem: describeError(error) }, 'event not posted');
        });
    },
    isAnyInstrumented: () => store.isAnyInstrumented(),
    synced,
  };
}

const sinceOf = (previousRenewTime: string | undefined): string =>
  previousRenewTime === undefined ? '' : new Date(Date.parse(previousRenewTime) - TELLING_MS).toISOString();

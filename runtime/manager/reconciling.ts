import type { Logger } from 'pino';
import { aborted } from '../async/aborted.ts';
import { injectorOf, type RuntimeConfig } from '../config.ts';
import { workloads, type WorkloadKind } from '../contract.ts';
import type { CredentialCache } from '../credentials/cache.ts';
import { isUnreadable } from '../credentials/credential.ts';
import { sourceOf } from '../credentials/source.ts';
import { holds } from '../injection/policy.ts';
import type { LumigoResource } from '../injection/types.ts';
import { createClient } from '../kubernetes/client.ts';
import type { LeadingContext } from '../kubernetes/leading-term.ts';
import { listWatch } from '../kubernetes/list-watch.ts';
import { within, type Transport } from '../kubernetes/transport.ts';
import type { LumigoStore } from '../lumigo-store.ts';
import type { Metrics } from '../metrics.ts';
import { createEventApi, createReconcilerApi, probeApi } from '../reconciler/api.ts';
import { EventQueue } from '../reconciler/event-queue.ts';
import type { ObservedCredential } from '../reconciler/observed-namespace.ts';
import { probeWebhook } from '../reconciler/probe.ts';
import { Reconciler } from '../reconciler/reconciler.ts';
import type { LumigoWatch } from './lumigo-watch.ts';
import type { LeaderRunnable } from './runnable.ts';

export interface ReconcilingOptions {
  readonly config: RuntimeConfig;
  readonly transport: Transport;
  readonly lumigoes: LumigoStore;
  readonly lumigoWatch: LumigoWatch;
  readonly credentials: CredentialCache;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Clocks differ, and an event may have been queued still when its leader ended; twice told is prevented by the event's name. */
const TELLING_MS = 5 * 60_000;

/** The reconciler of this replica: none between two terms, and a new one in each, which looks at everything anew. */
export class Reconciling implements LeaderRunnable {
  readonly name = 'reconciler';
  readonly needsToLead = true;
  readonly #options: ReconcilingOptions;
  /** Outlives a term: a Lease that is lost and won again costs no event twice. */
  readonly #events: EventQueue;
  readonly #listeners = new Set<() => void>();
  #current: Reconciler | undefined;

  constructor(options: ReconcilingOptions) {
    const { metrics, logger } = options;
    this.#options = options;
    this.#events = new EventQueue({
      logger,
      onPosted: (reason) => metrics.events.inc({ reason }),
      onDrained: (namespace) => this.#current?.look(namespace),
      onDropped: (reason) => metrics.eventsDropped.inc({ reason }),
    });
  }

  /** Proves once a minute that the API server reaches the webhook. */
  readonly probing: LeaderRunnable = {
    name: 'probe of the webhook',
    needsToLead: true,
    run: ({ signal, fence }) => {
      const { config, transport, lumigoes, metrics } = this.#options;
      return probeWebhook({
        ...{ signal, candidate: () => lumigoes.active(), timeoutSeconds: config.webhookTimeoutSeconds },
        dryRun: probeApi(createClient(within(transport, { signal, fence }))),
        onResult: (result) => {
          metrics.webhookReachable.set(result === 'reachable' ? 1 : 0);
          this.#current?.onWebhook(result);
        },
      });
    },
  };

  /** Calls whenever the first workload of the cluster is instrumented, or the last one is not any more. */
  onInstrumented(listener: () => void, signal: AbortSignal): void {
    this.#listeners.add(listener);
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
  }

  /** The reconciler, while this replica leads. */
  get current(): Reconciler | undefined {
    return this.#current;
  }

  run = async (term: LeadingContext): Promise<void> => {
    const { config, transport, lumigoes, lumigoWatch, credentials, metrics, logger } = this.#options;
    const { signal, fence } = term;
    const component = { version: config.version, instance: config.podName };
    const reconciler = new Reconciler({
      api: createReconcilerApi(createClient(within(transport, { signal, fence }))),
      lumigoes,
      credential: (namespace, acting) => credentialOf(credentials, namespace, acting),
      injector: injectorOf(config),
      renew: config.updateOnUpgrade,
      pace: {
        concurrent: config.changesConcurrent,
        concurrentPerNamespace: config.changesConcurrentPerNamespace,
        settleMs: config.changesSettleSeconds * 1_000,
      },
      removalDeadlineMs: config.removalDeadlineSeconds * 1_000,
      events: this.#events,
      onInstrumented: () => this.#listeners.forEach((listener) => listener()),
      metrics,
      logger,
      signal,
      since: toldUntil(term),
    });
    this.#current = reconciler;
    // Not under the term's signal: what is queued when it ends in good order is posted before the Lease is given back.
    const posting = this.#events.run(signal, createEventApi(createClient(within(transport, { fence })), component));
    lumigoWatch.subscribe((namespace) => reconciler.look(namespace), signal);
    credentials.onChange((namespace) => reconciler.look(namespace), signal);
    const watches = workloads.map((kind) => this.#watch(kind, reconciler, signal));
    void Promise.all([lumigoWatch.synced, ...watches.map(({ synced }) => synced)]).then(() => {
      // A term that ended meanwhile knows nothing: each of these also resolves when it is told to stop.
      if (!signal.aborted) reconciler.begin();
    });
    await aborted(signal);
    this.#current = undefined;
    for (const namespace of lumigoes.namespaces()) credentials.want(userOf(namespace), []);
    await Promise.all([posting, ...watches.map(({ stopped }) => stopped)]);
  };

  #watch(kind: WorkloadKind, reconciler: Reconciler, signal: AbortSignal) {
    const { transport, metrics, logger } = this.#options;
    return listWatch({
      transport,
      resource: kind,
      isOptional: kind.optional,
      metadataOnly: true,
      signal,
      logger,
      onRestart: (cause) => metrics.watchRestarts.inc({ resource: kind.plural, cause }),
      handler: reconciler.handler(kind),
    });
  }
}

/** Until when (ISO 8601) an earlier leader has told of everything. */
const toldUntil = ({ previousRenewTime }: LeadingContext): string =>
  previousRenewTime === undefined ? '' : new Date(Date.parse(previousRenewTime) - TELLING_MS).toISOString();

/** As whom the reconciler wants the credential of a namespace. */
const userOf = (namespace: string): string => `reconciler/${namespace}`;

/** What is known of the acting Lumigo's token. That the API server does not say takes nothing from one that is active. */
function credentialOf(
  credentials: CredentialCache,
  namespace: string,
  acting: LumigoResource | undefined,
): ObservedCredential | undefined {
  credentials.want(userOf(namespace), acting === undefined ? [] : [sourceOf(acting)]);
  const credential = acting === undefined ? undefined : credentials.get(sourceOf(acting));
  if (credential === undefined || acting === undefined) return undefined;
  const isKept = isUnreadable(credential) && holds(acting.status, 'Active');
  return { problem: isKept ? undefined : credential.problem, version: credential.version };
}

import { aborted } from '../async/aborted.ts';
import { Topic } from '../async/topic.ts';
import { workloads } from '../contract.ts';
import type { CredentialCache } from '../credentials/cache.ts';
import { isUnreadable, sourceOf } from '../credentials/credential.ts';
import { holds } from '../injection/policy.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { createClient } from '../kubernetes/http/client.ts';
import { eventObject, postEvent } from '../kubernetes/resources/events.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { watchKind } from '../kubernetes/watch/watches.ts';
import { within } from '../kubernetes/http/transport.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { createReconcilerApi } from '../reconciler/api.ts';
import { EventQueue, type QueuedEvent } from '../kubernetes/resources/event-queue.ts';
import type { ObservedCredential } from '../reconciler/observed.ts';
import { Reconciler } from '../reconciler/reconciler.ts';
import type { LumigoWatch } from './lumigo-watch.ts';
import type { LeaderRunnable, Shared } from './runnable.ts';

/** The reports of other parts to the reconciler, if this replica leads, and its own to them. */
export class Reports {
  readonly webhook = new Topic<Parameters<Reconciler['onWebhook']>>();
  readonly telemetry = new Topic<Parameters<Reconciler['onTelemetry']>>();
  readonly token = new Topic<Parameters<Reconciler['onToken']>>();
  readonly pods = new Topic<Parameters<Reconciler['onPods']>>();
  /** The first workload of the cluster is instrumented, or the last one is not any more. */
  readonly instrumented = new Topic();
}

interface ReconcilingOptions extends Shared {
  readonly lumigoes: LumigoStore;
  readonly lumigoWatch: LumigoWatch;
  readonly credentials: CredentialCache;
  readonly reports: Reports;
}

/** Clocks differ, and an event may have been queued still when its leader ended; twice told is prevented by the event's name. */
const REPORTING_MS = 5 * 60_000;

/** The reconciler of this replica: none between two terms, and a new one in each, which looks at everything anew. */
export class Reconciling implements LeaderRunnable {
  readonly name = 'reconciler';
  readonly needsToLead = true;
  /** Outlives a term: a Lease that is lost and won again costs no event twice. */
  private readonly events: EventQueue;
  private reconciler: Reconciler | undefined;

  constructor(private readonly options: ReconcilingOptions) {
    this.events = new EventQueue({ ...options, onDrained: (namespace) => this.reconciler?.enqueue(namespace) });
  }

  /** The reconciler, while this replica leads. */
  get current(): Reconciler | undefined {
    return this.reconciler;
  }

  run = async (term: LeadingContext): Promise<void> => {
    const { config, transport, lumigoes, lumigoWatch, credentials, reports, metrics, logger } = this.options;
    const { signal, fence } = term;
    const reconciler = new Reconciler({
      ...this.options,
      lumigoesRead: lumigoWatch.catchUp,
      api: createReconcilerApi(termClient(transport, term)),
      credential: (namespace, acting) => credentialOf(credentials, namespace, acting),
      events: this.events,
      onInstrumented: reports.instrumented.emit,
      signal,
      since: toldUntil(term),
    });
    this.reconciler = reconciler;
    // Not under the term's signal: what is queued when it ends in good order is posted before the Lease is given back.
    const client = createClient(within(transport, { fence }));
    const sender = { version: config.version, instance: config.podName };
    const post = (event: QueuedEvent) => postEvent(client, eventObject({ ...event, ...sender, now: new Date() }));
    const posting = this.events.run(signal, post, () => reconciler.underWay);
    lumigoWatch.changed.on((namespace) => reconciler.enqueue(namespace), signal);
    credentials.changed.on((namespace) => reconciler.enqueue(namespace), signal);
    reports.webhook.on((...seen) => reconciler.onWebhook(...seen), signal);
    reports.telemetry.on((...seen) => reconciler.onTelemetry(...seen), signal);
    reports.token.on((...seen) => reconciler.onToken(...seen), signal);
    reports.pods.on((...seen) => reconciler.onPods(...seen), signal);
    const watches = workloads.map((kind) =>
      watchKind(kind, {
        ...{ transport, metadataOnly: true, signal, logger },
        // One that may go for good is not missed.
        onHeard:
          kind.addOn !== undefined ? undefined : () => metrics.watchHeard.setToCurrentTime({ resource: kind.plural }),
        onRestart: (cause) => metrics.watchRestarts.inc({ resource: kind.plural, cause }),
        handler: reconciler.handler(kind),
      }),
    );
    void Promise.all([lumigoWatch.synced, ...watches.map(({ synced }) => synced)]).then(() => {
      // A term that ended meanwhile knows nothing: each of these also resolves when it is told to stop.
      if (!signal.aborted) reconciler.begin();
    });
    await aborted(signal);
    this.reconciler = undefined;
    for (const namespace of lumigoes.namespaces()) credentials.want(userOf(namespace), []);
    await Promise.all([posting, ...watches.map(({ stopped }) => stopped)]);
  };
}

/** Until when (ISO 8601) an earlier leader has told of everything. */
const toldUntil = ({ previousRenewTime }: LeadingContext): string =>
  previousRenewTime === undefined ? '' : new Date(Date.parse(previousRenewTime) - REPORTING_MS).toISOString();

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

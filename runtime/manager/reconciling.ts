import { aborted } from '../async/aborted.ts';
import { Topic } from '../async/topic.ts';
import { workloads } from '../contract.ts';
import type { CredentialCache } from '../credentials/cache.ts';
import { isUnread, toTokenSource } from '../credentials/credential.ts';
import { holds } from '../injection/policy.ts';
import type { LumigoResource } from '../api/lumigo.ts';
import { createClient } from '../kubernetes/http/client.ts';
import { isNotFound } from '../kubernetes/http/errors.ts';
import { eventObject, postEvent } from '../kubernetes/resources/events.ts';
import { termClient, type LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { watchKind } from '../kubernetes/watch/watches.ts';
import { withBounds } from '../kubernetes/http/transport.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import { createReconcilerApi } from '../reconciler/api.ts';
import { EventQueue, type QueuedEvent } from '../kubernetes/resources/event-queue.ts';
import type { ObservedCredential } from '../reconciler/observed.ts';
import { Reconciler } from '../reconciler/reconciler.ts';
import type { LumigoWatch } from './lumigo-watch.ts';
import type { LeaderRunnable, Shared } from './runnable.ts';

interface ReconcilingOptions extends Shared {
  readonly lumigoes: LumigoStore;
  readonly lumigoWatch: LumigoWatch;
  readonly credentials: CredentialCache;
}

/** Events of this time before the last renewal may be missing, and are sent again. Their names prevent duplicates. */
const REPORTING_MS = 5 * 60_000;

/** Each term has a new reconciler, which reads everything again. */
export class Reconciling implements LeaderRunnable {
  readonly name = 'reconciler';
  readonly needsToLead = true;
  /** Emits when the first workload of the cluster is instrumented, or none any more. */
  readonly instrumented = new Topic();
  /** A new term posts what was still waiting, unless another leader has reported it since. */
  private events: EventQueue | undefined;
  private endedAt = '';
  /** Undefined between two terms. */
  current: Reconciler | undefined;

  constructor(private readonly options: ReconcilingOptions) {}

  run = async (term: LeadingContext): Promise<void> => {
    const { config, transport, lumigoes, lumigoWatch, credentials, metrics, logger } = this.options;
    const { signal, fence, previousRenewTime = new Date().toISOString() } = term;
    // An earlier leader has reported everything before. Its Lease may have been deleted.
    const since = new Date(Date.parse(previousRenewTime) - REPORTING_MS).toISOString();
    const onDrained = (namespace: string) => this.current?.enqueue(namespace);
    if (this.events === undefined || this.endedAt < since) this.events = new EventQueue({ ...this.options, onDrained });
    const reconciler = new Reconciler({
      ...this.options,
      lumigoesRead: lumigoWatch,
      api: createReconcilerApi(termClient(transport, term)),
      credential: (namespace, effective) => this.getCredential(namespace, effective),
      events: this.events,
      onInstrumented: this.instrumented.emit,
      signal,
      since,
    });
    this.current = reconciler;
    // Queued events are posted after the end of the term, before the Lease is released.
    const client = createClient(withBounds(transport, { fence }));
    const sender = { version: config.version, instance: config.podName };
    const post = (event: QueuedEvent) => postEvent(client, eventObject({ ...event, ...sender, now: new Date() }));
    const posting = this.events.run(signal, post);
    lumigoWatch.changed.on((namespace) => reconciler.enqueue(namespace), signal);
    credentials.changed.on((namespace) => reconciler.enqueue(namespace), signal);
    const watches = workloads.map((kind) =>
      watchKind(kind, {
        transport,
        metadataOnly: true,
        signal,
        logger,
        onHeard: () => metrics.watchHeard.setToCurrentTime({ resource: kind.plural }),
        onRestart: (cause, error) => {
          metrics.watchRestarts.inc({ resource: kind.plural, cause });
          // The kind of an add-on may disappear for good, and then its silence is normal.
          if (kind.addOn !== undefined && isNotFound(error)) metrics.watchHeard.remove({ resource: kind.plural });
        },
        handler: reconciler.handler(kind),
      }),
    );
    void Promise.all([lumigoWatch.synced, ...watches.map(({ synced }) => synced)]).then(() => {
      // `synced` also resolves when the term ends. Then nothing is known.
      if (!signal.aborted) reconciler.begin();
    });
    await aborted(signal);
    this.current = undefined;
    this.endedAt = new Date().toISOString();
    for (const namespace of lumigoes.namespaces()) credentials.want(getUser(namespace), []);
    await Promise.all([posting, ...watches.map(({ stopped }) => stopped)]);
  };

  /** A Secret that cannot be read does not deactivate an active `Lumigo` resource. */
  private getCredential(namespace: string, effective: LumigoResource | undefined): ObservedCredential | undefined {
    const { credentials } = this.options;
    const source = effective && toTokenSource(effective);
    credentials.want(getUser(namespace), source === undefined ? [] : [source]);
    const credential = source && credentials.get(source);
    if (credential === undefined) return undefined;
    const isKept = isUnread(credential) && holds(effective?.status, 'Active');
    return { problem: isKept ? undefined : credential.problem, version: credential.version };
  }
}

const getUser = (namespace: string): string => `reconciler/${namespace}`;

import { Debounce } from '../async/debounce.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { labels, workloads, type WorkloadKind } from '../contract.ts';
import type { CredentialCache } from '../credentials/cache.ts';
import { sourceOf, type TokenSource } from '../credentials/credential.ts';
import { describeError } from '../wording/errors.ts';
import type { LumigoResource, Problem } from '../injection/types.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import { watchKind, type Watching } from '../kubernetes/watch/watches.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { Metrics } from '../observability/metrics.ts';
import { telemetryOf } from './decide-collected.ts';
import { prepare, writeTokens } from './files.ts';
import { OptIns } from './opt-ins.ts';
import type { Assignment } from './plan-reload.ts';
import { Reloader } from './reloader.ts';
import { TokenCache } from './token-cache.ts';
import type { ProxySettings } from './types.ts';

interface TelemetryProxyOptions extends Watching {
  readonly config: RuntimeConfig;
  /** With the rights of the telemetry proxy's own account. */
  readonly collectorTransport: Transport;
  readonly lumigoes: LumigoStore;
  readonly credentials: CredentialCache;
  readonly metrics: Metrics;
}

/** Quiet for so long, a burst of changes is over; a burst that goes on is not waited for longer than the second. */
const pause = { quietMs: 300, atMostMs: 1_500 };
/** How often the collector is looked at, should nothing change. */
const POLL_MS = 1_000;
/** A connection that breaks again and again is no reason to reload again and again. */
const RENEWAL_MS = 60_000;

/** By its uid a cluster is known. */
const clusterNamespace = { ...kinds.namespaces, name: 'kube-system' };

/** Tells the reconciler of the replica that leads: the collector does what it should, or does not, then why. */
type OnProblem = (problem: Problem | 'working', affected: readonly LumigoResource[]) => void;

/**
 * Keeps the collector beside this manager as the Lumigo resources want it: on every replica it lets in the right tokens,
 * on the one that leads it collects.
 */
export class TelemetryProxy {
  private readonly book = new TokenCache();
  private readonly optIns = new OptIns(() => this.changed());
  private readonly debounce = new Debounce(pause);
  private readonly client: Client;
  private readonly reloader: Reloader;
  private settings: ProxySettings;
  private onProblem: OnProblem | undefined;
  private renewals = 0;
  private isRenewalDue = false;
  /** By performance.now. */
  private renewedAt = -Infinity;
  private letIn = '';
  private complete = false;
  private reloading: Promise<void> | undefined;

  constructor(private readonly options: TelemetryProxyOptions) {
    const { config, transport, collectorTransport, logger, signal } = options;
    this.settings = config;
    this.client = createClient(transport);
    this.reloader = new Reloader({
      ...{ client: createClient(collectorTransport), logger, signal },
      onReload: (outcome) => this.onReload(outcome),
    });
  }

  /** A Lumigo changed, if only in its status, or a credential. */
  changed(): void {
    this.debounce.touch();
  }

  /** This replica leads from now on, or no more. */
  lead(onProblem: OnProblem | undefined): void {
    this.onProblem = onProblem;
    this.debounce.touch();
  }

  /** The API server was away: whatever the collector watched there, it had better watch anew, if not a moment after it last did. */
  renew(): void {
    this.isRenewalDue = true;
    this.debounce.touch();
  }

  private renewWhereDue(): void {
    if (!this.isRenewalDue || performance.now() < this.renewedAt + RENEWAL_MS) return;
    this.isRenewalDue = false;
    this.renewedAt = performance.now();
    this.renewals += 1;
  }

  /** What keeps this replica from taking telemetry in, in words; empty when nothing does. */
  unready(): string[] {
    return this.complete ? [] : ['the tokens of the telemetry proxy are not read yet'];
  }

  /** Works until the signal is aborted. `lumigoesKnown`: all there are, if there are any. */
  async run(lumigoesKnown: Promise<void>): Promise<void> {
    const { signal, logger } = this.options;
    prepare(this.settings);
    const watched = workloads.map((kind) => this.watchLabelled(kind));
    await Promise.all([lumigoesKnown, ...watched]);
    const warn = (error: unknown) =>
      logger.warn({ problem: describeError(error) }, 'cannot reconcile the telemetry proxy, retrying');
    while (!signal.aborted) {
      try {
        this.admit();
      } catch (error) {
        warn(error);
      }
      // Beside it, since a reload can take long, and what ends does not wait for it.
      this.reloading ??= this.reload()
        .catch(warn)
        .finally(() => (this.reloading = undefined));
      await this.debounce.wait(POLL_MS, signal);
    }
    await this.reloading;
  }

  /** Watches the metadata of what a label of ours stands on; resolves once everything there is was shown. */
  private watchLabelled(resource: WorkloadKind): Promise<void> {
    const { transport, metrics, logger, signal } = this.options;
    return watchKind(resource, {
      ...{ transport, logger, signal },
      metadataOnly: true,
      labelSelector: labels.autoTrace,
      onRestart: (cause) => metrics.watchRestarts.inc({ resource: resource.plural, cause }),
      handler: this.optIns.handler(resource),
    }).synced;
  }

  /** Lets in the tokens that may send now, and stops what the collector must not send any more. */
  private admit(): void {
    const { credentials } = this.options;
    this.renewWhereDue();
    const sources = this.sources();
    credentials.want('telemetry-proxy', sources);
    // Whoever is known already must not be shut out by a list that is only half read.
    this.complete ||= sources.every((source) => credentials.get(source) !== undefined);
    if (!this.complete) return;
    this.writeTokens(sources);
    if (this.reloader.cutOff(this.settings, this.assignment())) this.renewals += 1;
  }

  private async reload(): Promise<void> {
    if (!this.complete) return;
    if (this.settings.clusterUid === undefined) {
      const { metadata } = await this.client.get(clusterNamespace, { metadataOnly: true });
      this.settings = { ...this.settings, clusterUid: metadata.uid ?? '' };
    }
    const isPending = !(await this.reloader.reconcile(this.settings, this.assignment()));
    const { metrics } = this.options;
    metrics.telemetryPending.set(isPending ? 1 : 0);
    metrics.telemetryCollected.set(this.reloader.collected());
  }

  private writeTokens(sources: readonly TokenSource[]): void {
    const { credentials } = this.options;
    const standing = sources.map((source) => [placeOf(source), credentials.get(source)?.token] as const);
    const tokens = this.book.letIn(new Map(standing), performance.now());
    const text = JSON.stringify(tokens);
    if (text === this.letIn) return;
    writeTokens(this.settings.telemetryProxyDirectory, tokens);
    this.letIn = text;
    this.options.metrics.telemetryTokens.set(tokens.length);
  }

  /** Where the tokens stand that are to be let in. */
  private sources(): readonly TokenSource[] {
    const { lumigoes } = this.options;
    const counts = (namespace: string) => lumigoes.in(namespace).length === 0 && !lumigoes.isExcluded(namespace);
    const acting = this.acting().filter((lumigo) => telemetryOf(lumigo).letIn);
    return [...acting.map(sourceOf), ...this.optIns.sources(counts)];
  }

  private assignment(): Assignment | undefined {
    const { credentials } = this.options;
    if (this.onProblem === undefined) return undefined;
    const namespaces = this.acting().flatMap((lumigo) => {
      const token = telemetryOf(lumigo).collect ? credentials.get(sourceOf(lumigo))?.token : undefined;
      const { namespace: name, uid = '' } = lumigo.metadata;
      return token === undefined ? [] : [{ name, token, lumigo: uid }];
    });
    return { namespaces: namespaces.toSorted((a, b) => (a.name < b.name ? -1 : 1)), renewals: this.renewals };
  }

  private acting(): readonly LumigoResource[] {
    const { lumigoes } = this.options;
    return lumigoes.namespaces().flatMap((namespace) => lumigoes.acting(namespace) ?? []);
  }

  private onReload({
    problem,
    assignment,
  }: {
    readonly problem?: string;
    readonly assignment: Assignment | undefined;
  }): void {
    const { metrics, lumigoes } = this.options;
    metrics.telemetryReloads.inc({ outcome: problem === undefined ? 'taken' : 'failed' });
    const affected = (assignment?.namespaces ?? []).flatMap(({ name }) => lumigoes.acting(name) ?? []);
    this.onProblem?.(problem === undefined ? 'working' : failureOf(problem), affected);
  }
}

const failureOf = (problem: string): Problem => ({
  reason: 'ReloadFailed',
  message: `Kubernetes events and objects are not collected as configured: ${problem}. The operator tries again`,
});

const placeOf = ({ namespace, name, key }: TokenSource): string => `${namespace}/${name}/${key}`;

import { isDeepStrictEqual } from 'node:util';
import { retrying } from '../async/retrying.ts';
import { listenable, unlessAborted } from '../async/aborted.ts';
import { Debounce } from '../async/debounce.ts';
import { labels, workloads, type WorkloadKind } from '../contract.ts';
import type { CredentialCache } from '../credentials/cache.ts';
import { getInstallationSource, isUnread, toTokenSource, type TokenSource } from '../credentials/credential.ts';
import type { LumigoResource, Problem } from '../api/lumigo.ts';
import { createClient, type Client } from '../kubernetes/http/client.ts';
import type { LeadingContext } from '../kubernetes/lease/leading-term.ts';
import { watchKind } from '../kubernetes/watch/watches.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { kinds } from '../kubernetes/resources/kinds.ts';
import type { LumigoStore } from '../lumigo/lumigo-store.ts';
import type { LumigoWatch } from '../manager/lumigo-watch.ts';
import type { Shared } from '../manager/runnable.ts';
import { prepare, writeTokens } from './files.ts';
import { InstrumentedSenders } from './instrumented-senders.ts';
import { NodeKey } from './node-key.ts';
import { followReceived, reportReceived } from './received.ts';
import { Reloader, type Outcome } from './reloader.ts';
import { port } from './render-nodes.ts';
import { getPlace, getTelemetry, limitOptIns, MAX_OPT_INS } from './senders.ts';
import { stillUnread, TokenCache, toTokenNamespaces } from './tokens.ts';
import type { CollectedNamespace, ProxySettings } from './types.ts';

interface TelemetryProxyOptions extends Shared {
  /** The transport has the rights of the telemetry proxy's own account. */
  readonly collectorTransport: Transport;
  readonly lumigoes: LumigoStore;
  readonly credentials: CredentialCache;
  readonly lumigoWatch: Pick<LumigoWatch, 'changed' | 'broken' | 'known'>;
  readonly onTelemetry: (telemetry: Problem | 'working', affected: readonly LumigoResource[]) => void;
  readonly onReceived: (uids: ReadonlySet<string>) => void;
}

const POLL_MS = 1_000;
const TOO_MANY = 'workloads opt in with more tokens than the limit, ignoring the last Secrets by name';

/** On every replica the collector accepts the right tokens, and on the leader it also collects. */
export class TelemetryProxy {
  readonly name = 'telemetry proxy';
  private readonly stop = listenable();
  private readonly tokens = new TokenCache();
  private readonly senders = new InstrumentedSenders(() => this.changed());
  private readonly debounce = new Debounce({ quietMs: 300, atMostMs: 1_500 });
  private readonly client: Client;
  private readonly reloader: Reloader;
  private settings: ProxySettings;
  private leads = false;
  private readonly nodeKey: NodeKey;
  private readonly installationSource: TokenSource;
  private installationProblem: string | undefined;
  private hasNodeKey = false;
  private formerTokens: readonly string[] = [];
  private acceptedTokens: readonly string[] | undefined;
  private unreadAtStart: ReadonlyMap<string, number> | undefined;
  private crowded: readonly string[] = [];
  /** The last failed reload since nothing was left to do. Also a later term reports it. */
  private failed: Parameters<TelemetryProxyOptions['onTelemetry']> | undefined;

  constructor(private readonly options: TelemetryProxyOptions) {
    const { config, credentials, transport, collectorTransport, logger } = options;
    const { signal } = this.stop;
    this.settings = config;
    this.client = createClient(transport);
    this.nodeKey = new NodeKey({ config, credentials, client: this.client, logger, signal });
    this.installationSource = getInstallationSource(config);
    const client = createClient(collectorTransport);
    this.reloader = new Reloader({ client, logger, signal, onReload: (outcome) => this.onReload(outcome) });
  }

  private readonly changed = (): void => this.debounce.touch();

  async collect(term: LeadingContext): Promise<void> {
    const { credentials, lumigoWatch, onReceived } = this.options;
    const { signal } = term;
    credentials.lead(true);
    // Node collectors wait for their key, also without the definition.
    await unlessAborted(lumigoWatch.known, signal);
    this.leads = !signal.aborted;
    this.reloader.forgive();
    this.changed();
    await followReceived({ ...this.options, senders: this.senders }, term, onReceived);
    this.leads = false;
    this.changed();
    credentials.lead(false);
  }

  readonly unready = (): string[] =>
    this.acceptedTokens === undefined ? ['the tokens of the telemetry proxy are not read yet'] : [];

  readonly run = async (signal: AbortSignal): Promise<void> => {
    const { credentials, lumigoWatch, logger } = this.options;
    signal.addEventListener('abort', () => this.stop.abort(), { once: true });
    // The collector's own watches may be broken, too.
    lumigoWatch.broken.on(this.reloader.renew, signal);
    for (const topic of [lumigoWatch.broken, lumigoWatch.changed, credentials.changed]) topic.on(this.changed, signal);
    this.formerTokens = prepare(this.settings);
    const known = unlessAborted(lumigoWatch.known, signal);
    await Promise.all([known, this.readCluster(), ...workloads.map((kind) => this.watchLabelled(kind))]);
    this.senders.isComplete = true;
    void this.reloader.renewIfRefused(signal);
    const reporting = reportReceived({ ...this.options, senders: this.senders }, signal);
    const failure = 'cannot reconcile the telemetry proxy, retrying';
    const wait = (ms: number) => this.debounce.wait(ms, signal);
    for (; !signal.aborted; await wait(POLL_MS))
      await retrying(async () => this.reconcile(), { signal, logger, failure, wait, maxMs: POLL_MS });
    await Promise.all([reporting, this.reloader.ended()]);
  };

  /** The uid of this namespace identifies the cluster. */
  private async readCluster(): Promise<void> {
    const { logger } = this.options;
    const { signal } = this.stop;
    const read = () => this.client.get({ ...kinds.namespaces, name: 'kube-system' }, { metadataOnly: true });
    const failure = 'cannot read the uid of the cluster, retrying';
    const found = await retrying(read, { signal, logger, failure });
    this.settings = { ...this.settings, clusterUid: found?.metadata.uid ?? '' };
  }

  private watchLabelled(resource: WorkloadKind): Promise<void> {
    const { transport, metrics, logger } = this.options;
    return watchKind(resource, {
      transport,
      logger,
      signal: this.stop.signal,
      metadataOnly: true,
      labelSelector: labels.autoTrace,
      onRestart: (cause) => metrics.watchRestarts.inc({ resource: resource.plural, cause }),
      handler: this.senders.handler(resource),
    }).synced;
  }

  private reconcile(): void {
    const { credentials, config, metrics, onTelemetry } = this.options;
    const sources = this.sources();
    const wanted = [...sources.keys(), ...(config.nodeMetrics ? [this.installationSource] : [])];
    credentials.want('telemetry-proxy', wanted);
    const unread = wanted.filter((source) => isUnread(credentials.get(source)));
    this.unreadAtStart = stillUnread(this.unreadAtStart, unread.map(getPlace), performance.now());
    // A list that is only half read would refuse senders that were accepted before.
    const isTried = (source: TokenSource) => credentials.get(source) !== undefined || !this.isUnreadAtStart(source);
    if (this.acceptedTokens === undefined && !unread.every(isTried)) return;
    this.writeTokens(sources);
    this.reconcileNodes();
    const isDone = this.reloader.reconcile(this.settings, this.collected());
    // A reload alone is no success, because it may be that of a fallback.
    if (isDone) this.failed = undefined;
    if (isDone && this.leads) onTelemetry('working', []);
    if (this.failed !== undefined && this.leads) onTelemetry(...this.failed);
    metrics.telemetryPending.set(isDone ? 0 : 1);
    metrics.telemetryCollected.set(this.reloader.collected());
  }

  private readonly isUnreadAtStart = (source: TokenSource) => this.unreadAtStart?.has(getPlace(source)) === true;

  private reconcileNodes(): void {
    const { credentials, config, logger } = this.options;
    if (config.nodeLogs || config.nodeMetrics) this.hasNodeKey = this.nodeKey.reconcile(this.leads);
    if (!config.nodeMetrics) return;
    const problem = credentials.get(this.installationSource)?.problem?.message;
    if (problem !== undefined && problem !== this.installationProblem)
      logger.warn({ problem }, 'the installation has no usable token, so no metrics are sent');
    this.installationProblem = problem;
  }

  private writeTokens(sources: ReadonlyMap<TokenSource, string>): void {
    const { credentials } = this.options;
    const present = [...sources].map(([source, entry]) => [entry, credentials.get(source)] as const);
    const read = this.tokens.acceptsSenders(new Map(present), performance.now());
    const tokens = this.unreadAtStart?.size === 0 ? read : [...new Set([...this.formerTokens, ...read])].toSorted();
    this.settings = { ...this.settings, tokenNamespaces: toTokenNamespaces(this.tokens.accepted()) };
    if (isDeepStrictEqual(tokens, this.acceptedTokens)) return;
    writeTokens(this.settings, tokens);
    this.acceptedTokens = tokens;
  }

  /** Each source has its entry in the token cache. A `Lumigo` may name another Secret while pods run with the former token. */
  private sources(): ReadonlyMap<TokenSource, string> {
    const { lumigoes, logger } = this.options;
    const counts = (namespace: string) => !lumigoes.isExcluded(namespace);
    const effective = this.effective().filter((lumigo) => getTelemetry(lumigo).acceptsSenders);
    const { kept, crowded } = limitOptIns(this.senders.sources(counts));
    for (const namespace of crowded)
      if (!this.crowded.includes(namespace)) logger.warn({ namespace, limit: MAX_OPT_INS }, TOO_MANY);
    this.crowded = crowded;
    const named = effective.map((lumigo) => [toTokenSource(lumigo), lumigo.metadata.namespace] as const);
    return new Map([...named, ...kept.map((source) => [source, getPlace(source)] as const)]);
  }

  private collected(): readonly CollectedNamespace[] {
    const { credentials, config } = this.options;
    const effective = this.effective();
    const isLogging = (lumigo: LumigoResource) => config.nodeLogs && getTelemetry(lumigo).collect.includes('logFiles');
    const sending = [...effective.filter(isLogging).map(toTokenSource), this.installationSource];
    // Nodes drop what the port refuses without a key, and the port drops what it has no token for.
    const takesNodes = this.hasNodeKey && !sending.some(this.isUnreadAtStart);
    const takesLogs = takesNodes && config.nodeLogs;
    const namespaces = effective.flatMap((lumigo) => {
      const sends = getTelemetry(lumigo).collect.filter((sent) => (sent === 'events' ? this.leads : takesLogs));
      const token = sends.length === 0 ? undefined : credentials.get(toTokenSource(lumigo))?.token;
      const { namespace: name, uid } = lumigo.metadata;
      return token === undefined ? [] : [{ name, token, lumigo: uid, sends }];
    });
    const sorted = namespaces.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return [...sorted, ...(takesNodes && config.nodeMetrics ? this.installation() : []), ...(takesLogs ? [port] : [])];
  }

  /** Metrics of the cluster belong to no namespace. They have the token of the settings. */
  private installation(): readonly CollectedNamespace[] {
    const { credentials, config } = this.options;
    const token = credentials.get(this.installationSource)?.token;
    const isScraping = this.leads && config.kubeStateMetrics !== '';
    const sends = isScraping ? (['metrics', 'kubeStateMetrics'] as const) : (['metrics'] as const);
    return token === undefined ? [] : [{ name: config.operatorNamespace, token, lumigo: 'installation', sends }];
  }

  private effective(): readonly LumigoResource[] {
    const { lumigoes } = this.options;
    return lumigoes.namespaces().flatMap((namespace) => lumigoes.effective(namespace) ?? []);
  }

  private onReload({ problem, namespaces }: Outcome): void {
    const { metrics, lumigoes } = this.options;
    metrics.telemetryReloads.inc({ outcome: problem === undefined ? 'taken' : 'failed' });
    const affected = namespaces.flatMap(({ name }) => lumigoes.effective(name) ?? []);
    if (problem !== undefined) this.failed = [getFailure(problem), affected];
    this.changed();
  }
}

const getFailure = (problem: string): Problem => ({
  reason: 'ReloadFailed',
  message: `Kubernetes events and objects are not collected as configured: ${problem}. The operator tries again`,
});

import { aborted } from '../async/aborted.ts';
import { certificateSource, type Pair } from '../certificates/serve-certificate.ts';
import { CredentialCache } from '../credentials/cache.ts';
import { secretReader } from '../credentials/credential.ts';
import { createClient } from '../kubernetes/http/client.ts';
import type { Connection } from '../kubernetes/http/credentials.ts';
import { within, type Transport } from '../kubernetes/http/transport.ts';
import type { Standby } from '../installation/standby.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { monitorNamespaces } from '../monitoring/monitoring.ts';
import { probeWebhook } from '../webhook/probe.ts';
import { keepAccount } from '../telemetry-proxy/account.ts';
import { whenEnded } from '../telemetry-proxy/collector.ts';
import { TelemetryProxy } from '../telemetry-proxy/proxy.ts';
import { rotateCertificates } from '../certificates/rotation.ts';
import type { CertificateStore } from '../certificates/store.ts';
import { PodCounts } from '../pod-mode/pod-counts.ts';
import { injectorOf } from '../config/config.ts';
import { TokenChecks } from '../token-checks/token-checks.ts';
import { CleanupProtection } from '../uninstall/cleanup-protection.ts';
import { cleanUpOnShutdown } from '../uninstall/shutdown-cleanup.ts';
import { serveAdmission, type Admission } from '../webhook/admission.ts';
import { serveHealth, serveMetrics } from './health.ts';
import { LumigoWatch } from './lumigo-watch.ts';
import { Reconciling } from './reconciling.ts';
import { listenable, type Part, type Shared } from './runnable.ts';
import { ScrapeAccess, tokenReviewer } from './scrape-access.ts';
import { Scrapes } from './scrapes.ts';

interface PartsOptions extends Shared {
  /** With the rights of the telemetry proxy's own account. */
  readonly collectorTransport: Transport;
  /** By what the API server is trusted. */
  readonly authority: Connection['ca'];
  readonly certificates: CertificateStore;
  readonly standby: Standby;
  /** Why there is no Pod mode; undefined if there is. */
  readonly noPodMode: string | undefined;
  /** Aborted when the manager begins to stop. */
  readonly stopping: AbortSignal;
}

/** Where the pod ends, the telemetry proxy is told to stop a moment before the drain is over; it takes a second or less. */
const COLLECTOR_END_MS = 10_000;

/**
 * Everything that the manager runs. They start in this order and stop in the reverse one: first what the leader does, last what
 * others ask this replica. The webhook answers until its drain is over, and knows the Lumigo resources for as long.
 */
export function createParts(options: PartsOptions): Part[] {
  const {
    config,
    transport,
    collectorTransport,
    authority,
    metrics,
    logger,
    certificates,
    stopping,
    standby,
    noPodMode,
  } = options;
  const client = createClient(transport);
  const lumigoes = new LumigoStore([...config.excludedNamespaces, config.operatorNamespace], noPodMode);
  const credentials = new CredentialCache({ readSecret: secretReader(client), logger });
  const telemetryStop = listenable();
  const telemetry = new TelemetryProxy({
    ...{ config, transport, collectorTransport, lumigoes, credentials, metrics, logger },
    signal: telemetryStop.signal,
  });
  const lumigoWatch = new LumigoWatch({ transport, lumigoes, metrics, logger, onBroken: () => telemetry.renew() });
  let protection: CleanupProtection | undefined;
  const onInstrumented = () => protection?.request();
  const reconciling = new Reconciling({ ...options, lumigoes, lumigoWatch, credentials, onInstrumented });
  const protectionNeeded = () => lumigoes.namespaces().length > 0 || reconciling.current?.isAnyInstrumented();
  let admission: Admission | undefined;
  const host = config.listenAddress === '' ? undefined : config.listenAddress;
  const { registry } = metrics;
  const scrapes = config.metricsSecure
    ? new Scrapes({
        ...{ port: config.metricsPort, host, registry, telemetryProxyPort: config.telemetryMetricsPort },
        access: new ScrapeAccess({ ask: tokenReviewer(transport), logger }),
      })
    : undefined;
  const parts: Part[] = [
    {
      name: 'metrics',
      run: (signal) => scrapes?.serve(signal) ?? serveMetrics({ port: config.metricsPort, host, registry, signal }),
    },
    {
      name: 'health',
      run: (signal) =>
        serveHealth({
          port: config.healthPort,
          host,
          unready: () => [...unready(parts), ...(stopping.aborted ? ['stopping'] : [])],
          signal,
        }),
    },
    {
      name: 'telemetry proxy shutdown',
      run: async (signal) => {
        await aborted(signal);
        if (await whenEnded(config, COLLECTOR_END_MS))
          logger.warn({}, 'telemetry proxy did not stop in time, killed it');
      },
    },
    {
      name: 'final cleanup',
      run: async (signal) => {
        await aborted(signal);
        const removalDeadlineMs = config.removalDeadlineSeconds * 1_000;
        await cleanUpOnShutdown({ transport, installed: config, identity: config.podName, removalDeadlineMs, logger });
      },
    },
    standby,
    lumigoWatch,
    {
      name: 'webhook',
      unready: () => (admission?.hasCertificate() === true ? [] : ['the webhook has no certificate yet']),
      run: async (signal) => {
        const certificate = certificateSource(config, certificates, { transport, logger, signal });
        const onCertificate = (pair: Pair) => scrapes?.useCertificate(pair);
        const lumigoesRead = lumigoWatch.catchUp;
        admission = await serveAdmission({
          ...{ config, lumigoes, lumigoesRead, metrics, logger, signal, standsBy: standby.reason },
          ...{ certificate, onCertificate },
        });
        await aborted(signal);
        await admission.close(config.drainSeconds);
      },
    },
    {
      name: 'telemetry proxy account',
      run: (signal) => keepAccount({ config, client, authority, logger, signal }),
    },
    { name: 'credentials', run: (signal) => credentials.run(signal) },
    {
      name: 'telemetry proxy',
      unready: () => telemetry.unready(),
      run: async (signal) => {
        signal.addEventListener('abort', () => telemetryStop.abort(), { once: true });
        lumigoWatch.subscribe(() => telemetry.changed(), signal);
        credentials.onChange(() => telemetry.changed(), signal);
        await telemetry.run(lumigoWatch.known);
      },
    },
    {
      name: 'certificate',
      needsToLead: true,
      run: async ({ signal }) => {
        if (config.certificatesDirectory !== '' || config.certificatesIssuer !== 'operator') return;
        await rotateCertificates({ store: certificates, dnsName: config.webhookHost, transport, logger, signal });
      },
    },
    reconciling,
    {
      name: 'monitored namespaces',
      needsToLead: true,
      run: async ({ signal, fence }) => {
        await lumigoWatch.synced;
        const own = createClient(within(transport, { signal, fence }));
        await monitorNamespaces({ config, client: own, transport, lumigoes, logger, signal });
      },
    },
    {
      name: 'webhook probe',
      needsToLead: true,
      run: ({ signal, fence }) =>
        probeWebhook({
          client: createClient(within(transport, { signal, fence })),
          candidate: () => reconciling.current?.toProbeWith(),
          timeoutSeconds: config.webhookTimeoutSeconds,
          onResult: (result) => reconciling.current?.onWebhook(result),
          signal,
        }),
    },
    {
      name: 'cleanup protection',
      needsToLead: true,
      run: async ({ signal, fence }) => {
        protection = new CleanupProtection({
          client: createClient(within(transport, { signal, fence })),
          ...{ transport, installed: config, needed: protectionNeeded, logger },
        });
        lumigoWatch.subscribe(() => protection?.request(), signal);
        await protection.run(signal);
      },
    },
    {
      name: 'token checks',
      needsToLead: true,
      run: async ({ signal }) => {
        await lumigoWatch.synced;
        const checks = new TokenChecks({
          ...{ lumigoes, credentials, metrics, signal },
          endpoint: config.endpoint,
          onSeen: (...seen) => reconciling.current?.onToken(...seen),
        });
        await checks.run();
      },
    },
    {
      name: 'pod counts',
      needsToLead: true,
      run: async ({ signal, fence }) => {
        await lumigoWatch.synced;
        const counts = new PodCounts({
          ...{ lumigoes, logger, signal },
          client: createClient(within(transport, { signal, fence })),
          injector: injectorOf(config),
          onSeen: (...seen) => reconciling.current?.onPods(...seen),
        });
        await counts.run();
      },
    },
    {
      name: 'telemetry collection',
      needsToLead: true,
      run: async ({ signal }) => {
        credentials.lead(true);
        await lumigoWatch.synced;
        if (!signal.aborted) telemetry.lead((...seen) => reconciling.current?.onTelemetry(...seen));
        await aborted(signal);
        telemetry.lead(undefined);
        credentials.lead(false);
      },
    },
  ];
  return parts;
}

const unready = (parts: readonly Part[]): string[] =>
  parts.flatMap((part) => (part.needsToLead === true ? [] : (part.unready?.() ?? [])));

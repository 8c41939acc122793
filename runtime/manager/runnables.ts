import { aborted } from '../async/aborted.ts';
import { rotateCertificates } from '../certificates/rotation.ts';
import { certificateSource } from '../certificates/serve-certificate.ts';
import { certificateStore } from '../certificates/store.ts';
import { CredentialCache } from '../credentials/cache.ts';
import { secretReader } from '../credentials/credential.ts';
import type { Standby } from '../installation/standby.ts';
import { createClient } from '../kubernetes/http/client.ts';
import type { Connection } from '../kubernetes/http/credentials.ts';
import type { Transport } from '../kubernetes/http/transport.ts';
import { termClient } from '../kubernetes/lease/leading-term.ts';
import { LumigoStore } from '../lumigo/lumigo-store.ts';
import { monitorNamespaces } from '../monitoring/monitoring.ts';
import { MetricsServer } from '../serving/metrics-server.ts';
import { ScrapeAccess, tokenReviewer } from '../serving/scrape-access.ts';
import { keepAccount } from '../telemetry-proxy/account.ts';
import { endCollector } from '../telemetry-proxy/collector.ts';
import { TelemetryProxy } from '../telemetry-proxy/proxy.ts';
import { PodCounts } from '../pod-mode/pod-counts.ts';
import { TokenChecks } from '../token-checks/token-checks.ts';
import { CleanupProtection } from '../uninstall/cleanup-protection.ts';
import { cleanUpOnShutdown } from '../uninstall/shutdown-cleanup.ts';
import { AdmissionServer } from '../webhook/admission.ts';
import { probeWebhook } from '../webhook/probe.ts';
import { LumigoWatch } from './lumigo-watch.ts';
import { Reconciling } from './reconciling.ts';
import type { LeaderRunnable, ManagerRunnable, Runnable, Shared } from './runnable.ts';

interface RunnablesOptions extends Shared {
  /** It has the rights of the telemetry proxy's own account. */
  readonly collectorTransport: Transport;
  readonly authority: Connection['ca'];
  readonly standby: Standby;
  readonly noPodMode: string | undefined;
}

/** Runnables start in this order and stop in reverse. So the webhook knows the `Lumigo` resources until its drain ends. */
export function createRunnables(options: RunnablesOptions): readonly ManagerRunnable[] {
  const { config, transport, authority, metrics, logger, standby } = options;
  const client = createClient(transport);
  const lumigoes = new LumigoStore([...config.excludedNamespaces, config.operatorNamespace], options.noPodMode);
  const credentials = new CredentialCache({ readSecret: secretReader(client), logger });
  const lumigoWatch = new LumigoWatch({ transport, lumigoes, metrics, logger });
  const shared = { ...options, lumigoes, lumigoWatch, synced: lumigoWatch.synced, credentials };
  const reconciling = new Reconciling(shared);
  const telemetry = new TelemetryProxy({
    ...shared,
    onTelemetry: (...seen) => reconciling.current?.onTelemetry(...seen),
    onReceived: (uids) => reconciling.current?.onReceived(uids),
  });
  const access = new ScrapeAccess({ ask: tokenReviewer(transport), logger });
  const metricsServer = new MetricsServer({ config, registry: metrics.registry, access });
  return [
    metricsServer,
    atTheEnd('telemetry proxy shutdown', () => endCollector(options)),
    atTheEnd('final cleanup', () => cleanUpOnShutdown(options)),
    standby,
    lumigoWatch,
    new AdmissionServer({
      ...shared,
      standsBy: standby.reason,
      certificate: (signal) => certificateSource(config, certificateStore(client, config), { ...shared, signal }),
      onCertificate: (pair) => metricsServer.useCertificate(pair),
    }),
    { name: 'telemetry proxy account', run: (signal) => keepAccount({ config, client, authority, logger, signal }) },
    credentials,
    telemetry,
    whileLeading('certificate', async (term) => {
      if (config.certificatesDirectory !== '' || config.certificatesIssuer !== 'operator') return;
      const store = certificateStore(termClient(transport, term), config);
      await rotateCertificates({ store, dnsName: config.webhookHost, transport, logger, signal: term.signal });
    }),
    reconciling,
    whileLeading('monitored namespaces', (term) => monitorNamespaces(shared, term)),
    whileLeading('webhook probe', (term) =>
      probeWebhook({
        client: termClient(transport, term),
        signal: term.signal,
        onResult: (seen) => reconciling.current?.onWebhook(seen),
        candidates: () => reconciling.current?.toProbeWith() ?? [],
        timeoutSeconds: config.webhookTimeoutSeconds,
      }),
    ),
    new CleanupProtection({
      ...shared,
      news: [lumigoWatch.changed, reconciling.instrumented],
      needed: () => lumigoes.namespaces().length > 0 || reconciling.current?.isAnyInstrumented(),
    }),
    new TokenChecks({ ...shared, onSeen: (...seen) => reconciling.current?.onToken(...seen) }),
    new PodCounts({ ...shared, onSeen: (...seen) => reconciling.current?.onPods(...seen) }),
    whileLeading('telemetry collection', (term) => telemetry.collect(term)),
  ];
}

const whileLeading = (name: string, run: LeaderRunnable['run']): LeaderRunnable => ({ name, needsToLead: true, run });
const atTheEnd = (name: string, work: () => Promise<void>): Runnable => ({
  name,
  run: (signal) => aborted(signal).then(work),
});

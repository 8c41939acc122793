import { setMaxListeners } from 'node:events';
import type { Logger } from 'pino';
import { injectorOf, type RuntimeConfig } from './config.ts';
import { connect, type ConnectOptions } from './connection.ts';
import { suffixes, type WorkloadKind } from './contract.ts';
import { describeError } from './errors.ts';
import { serveHealth, serveMetrics } from './health.ts';
import { createClient } from './kubernetes/client.ts';
import { elect } from './kubernetes/leader-election.ts';
import { listWatch } from './kubernetes/list-watch.ts';
import { ownersOf } from './kubernetes/owners.ts';
import { createTransport, type Transport } from './kubernetes/transport.ts';
import { createLogger } from './logging.ts';
import { LumigoStore } from './lumigo-store.ts';
import { watchLumigoes, type LumigoWatch } from './lumigo-watch.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { createReconcilerApi } from './reconciler/api.ts';
import { startReconciling, type WatchHandler } from './reconciler/leader.ts';
import { createTelemetryProxy, secretReader } from './telemetry.ts';
import { whenEnded } from './telemetry-proxy/collector.ts';
import { configurationFile } from './telemetry-proxy/files.ts';
import type { TelemetryProxy } from './telemetry-proxy/proxy.ts';
import { certificateSource, certificateStoreOf, type CertificateStore } from './certificates.ts';
import { keepCertificates } from './tls/keeper.ts';
import { farewell } from './uninstall/farewell.ts';
import { leaseOf } from './uninstall/held-objects.ts';
import { keepHold } from './uninstall/hold.ts';
import { serveAdmission } from './webhook/admission.ts';

/** Connections for writes and reads; watches and the Lease have their own. */
const WORK_SOCKETS = 16;
/** The telemetry proxy is told to stop when the drain is over, as this process is; it takes a second or less. */
const COLLECTOR_END_MS = 10_000;

/**
 * Runs the manager until it is told to stop (SIGTERM, SIGINT): every replica answers the webhook, the one that holds the
 * Lease reconciles. On the way out it hands the Lease over and answers what was begun.
 */
export async function runManager(config: RuntimeConfig, options: ConnectOptions): Promise<void> {
  const logger = createLogger(config.logLevel);
  const metrics = createMetrics();
  const stop = stopSignal(logger);
  const connection = await connect(options, process.env);
  const transport = createTransport(connection, {
    userAgent: `lumigo-operator/${config.version}`,
    maxSockets: Math.max(WORK_SOCKETS, config.changesConcurrent),
    onRequest: ({ verb, resource, code }) => metrics.apiRequests.inc({ verb, resource, code: String(code) }),
    logger,
  });
  const lumigoes = new LumigoStore([...config.excludedNamespaces, config.operatorNamespace]);
  const certificates = certificateStoreOf(config, createClient(transport));
  const admission = await serveAdmission({
    config,
    lumigoes,
    metrics,
    logger,
    signal: stop.signal,
    certificate: certificateSource(config, certificates),
  });
  const running = { transport, lumigoes, metrics, logger, signal: stop.signal };
  const telemetry = createTelemetryProxy({ ...running, config });
  const lumigoWatch = watchLumigoes({ ...running, telemetry });
  const proxying = telemetry.run(lumigoWatch.known);
  const ready = { caches: false };
  const ending = { pod: false };
  void lumigoWatch.known.then(() => (ready.caches = true));
  const host = config.listenAddress === '' ? {} : { host: config.listenAddress };
  const health = await serveHealth({
    ...host,
    port: config.healthPort,
    // The end of the drain is when this server goes, too.
    drainMs: config.drainSeconds * 800,
    onDrain: () => (ending.pod = true),
    unready: () => [
      ...(ready.caches ? [] : ['the Lumigo resources are not read yet']),
      ...(admission.hasCertificate() ? [] : ['there is no webhook certificate yet']),
      ...telemetry.unready(),
      ...(stop.signal.aborted ? ['stopping'] : []),
    ],
  });
  const metricsServer = await serveMetrics(config.metricsPort, metrics.registry, host.host);
  logger.info({ version: config.version, webhookPort: config.webhookPort, pod: config.podName }, 'manager started');
  await lead({ ...running, config, lumigoWatch, telemetry, certificates });
  await proxying;
  await admission.close(config.drainSeconds);
  await farewell({
    client: createClient(transport),
    installed: config,
    removalDeadlineMs: config.removalDeadlineSeconds * 1_000,
    logger,
  });
  if (ending.pod && (await whenEnded(configurationFile(config.telemetryProxyDirectory), COLLECTOR_END_MS)))
    logger.warn({}, 'telemetry proxy did not stop and was ended');
  transport.close();
  health.close();
  metricsServer.close();
  logger.info({}, 'manager stopped');
}

interface Running {
  readonly transport: Transport;
  readonly lumigoes: LumigoStore;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/** Stands for election until the end; reconciles whenever this replica is elected. */
function lead(
  running: Running & {
    config: RuntimeConfig;
    lumigoWatch: LumigoWatch;
    telemetry: TelemetryProxy;
    certificates: CertificateStore;
  },
): Promise<void> {
  const { config, transport, lumigoes, lumigoWatch, telemetry, metrics, logger, signal } = running;
  const client = createClient(transport);
  const api = createReconcilerApi(client, { version: config.version, instance: config.podName });
  metrics.leader.set(0);
  return elect({
    client,
    ...leaseOf(config),
    owners: () => ownersOf(client, config.operatorNamespace, `${config.operatorName}${suffixes.manager}`),
    identity: config.podName,
    signal,
    logger,
    onStartedLeading: async (term) => {
      metrics.leader.set(1);
      // Every watch listens to it.
      setMaxListeners(0, term.signal);
      if (config.certificatesDirectory === '' && config.certificatesIssuer === 'operator')
        void keepCertificates({ ...running.certificates, dnsName: config.webhookHost, logger, signal: term.signal });
      await lumigoWatch.synced;
      const reconciling = startReconciling({
        api,
        readSecret: secretReader(client),
        lumigoes,
        injector: injectorOf(config),
        renew: config.updateOnUpgrade,
        pace: {
          concurrent: config.changesConcurrent,
          concurrentPerNamespace: config.changesConcurrentPerNamespace,
          settleMs: config.changesSettleSeconds * 1_000,
        },
        removalDeadlineMs: config.removalDeadlineSeconds * 1_000,
        metrics,
        logger,
        signal: term.signal,
        previousRenewTime: term.previousRenewTime,
        watch: (kind, handler) => watchWorkloads({ ...running, signal: term.signal }, kind, handler),
      });
      lumigoWatch.listener = reconciling.onLumigo;
      let isSynced = false;
      void reconciling.synced.then(() => (isSynced = true));
      void keepHold({
        client,
        installed: config,
        needed: () => lumigoes.namespaces().length > 0 || (isSynced ? reconciling.isAnyInstrumented() : undefined),
        logger,
        signal: term.signal,
      });
      telemetry.lead({ onToken: reconciling.onToken, onProblem: reconciling.onTelemetry });
    },
    onStoppedLeading: () => {
      metrics.leader.set(0);
      lumigoWatch.listener = undefined;
      telemetry.lead(undefined);
    },
  });
}

function watchWorkloads(running: Running, kind: WorkloadKind, handler: WatchHandler): Promise<void> {
  const { transport, metrics, logger, signal } = running;
  return listWatch({
    transport,
    resource: kind,
    metadataOnly: true,
    signal,
    logger,
    onRestart: (cause) => metrics.watchRestarts.inc({ resource: kind.plural, cause }),
    handler,
  }).synced;
}

/** Aborted by the first SIGTERM or SIGINT; a second one ends the process at once. */
function stopSignal(logger: Logger): AbortController {
  const controller = new AbortController();
  // Every watch listens to it.
  setMaxListeners(0, controller.signal);
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(1);
      logger.info({ signal: name }, 'stopping');
      controller.abort();
    });
  process.on('unhandledRejection', (error) =>
    logger.error({ err: error, problem: describeError(error) }, 'unhandled rejection'),
  );
  return controller;
}

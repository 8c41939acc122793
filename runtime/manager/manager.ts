import type { Logger } from 'pino';
import { listenable } from '../async/aborted.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { connect, type ConnectOptions } from '../kubernetes/http/connect.ts';
import { detectPlatform, detectPodMode } from '../installation/platform.ts';
import { getLease, ownMetadata } from '../installation/installation.ts';
import { Standby } from '../installation/standby.ts';
import { waitForEndOfOriginal } from '../installation/leader.ts';
import { createClient } from '../kubernetes/http/client.ts';
import { elect } from '../kubernetes/lease/leader-election.ts';
import { createTransport, type TransportOptions } from '../kubernetes/http/transport.ts';
import { createLogger } from '../observability/logging.ts';
import { createMetrics } from '../observability/metrics.ts';
import { HealthServer } from '../serving/health.ts';
import { asTelemetryProxy } from '../telemetry-proxy/account.ts';
import { createRunnables } from './runnables.ts';
import { leadAll, runAll, type LeaderRunnable, type Runnable, type Shared } from './runnable.ts';

/** Watches and the Lease have their own connections. */
const WORK_SOCKETS = 16;

/** Every replica serves the webhook, and the leader reconciles. After SIGTERM or SIGINT it finishes open requests. */
export async function runManager(given: RuntimeConfig, options: ConnectOptions): Promise<void> {
  const logger = createLogger(given.logLevel);
  const { signal } = stopSignal(logger);
  const metrics = createMetrics();
  const connection = await connect(options, process.env);
  const common: TransportOptions = {
    userAgent: `lumigo-operator/${given.version}`,
    onRequest: ({ verb, resource, code }) => metrics.apiRequests.inc({ verb, resource, code: String(code) }),
    onSkipped: (resource) => metrics.objectsSkipped.inc({ resource }),
    logger,
  };
  const maxSockets = Math.max(WORK_SOCKETS, given.rolloutConcurrent);
  const transport = createTransport(connection, { ...common, maxSockets });
  const collectorTransport = createTransport(asTelemetryProxy(connection, given), common);
  let unready = (): readonly string[] => ['the API server has not said what it is yet'];
  const run = async (stop: AbortSignal): Promise<void> => {
    const watching = { transport, logger, signal: stop };
    const [config, noPodMode] = await Promise.all([detectPlatform(given, watching), detectPodMode(given, watching)]);
    const shared = { config, transport, metrics, logger };
    const standby = new Standby(shared);
    const all = createRunnables({ ...shared, standby, noPodMode, collectorTransport, authority: connection.ca });
    const everywhere = all.filter((runnable) => runnable.needsToLead !== true);
    const leaders = all.filter((runnable) => runnable.needsToLead === true);
    unready = () => everywhere.flatMap((runnable) => runnable.unready?.() ?? []);
    const leading = election(shared, standby, leaders);
    logger.info({ version: config.version, webhookPort: config.webhookPort, pod: config.podName }, 'manager started');
    await runAll([...everywhere, leading], stop, logger);
  };
  const health = new HealthServer({
    config: given,
    unready: () => [...unready(), ...(signal.aborted ? ['stopping'] : [])],
  });
  // The kubelet restarts a container without a health port, also if only the API server is away.
  await runAll([health, { name: 'manager', run }], signal, logger);
  transport.close();
  collectorTransport.close();
  logger.info({}, 'manager stopped');
}

function election(shared: Shared, standby: Standby, runnables: readonly LeaderRunnable[]): Runnable {
  const { config, transport, metrics, logger } = shared;
  const client = createClient(transport);
  return {
    name: 'leader election',
    run: async (signal) => {
      await waitForEndOfOriginal({ client, installed: config, signal, logger });
      await standby.whileActive(signal, (active) =>
        elect({
          client,
          ...getLease(config),
          owners: async () => (await ownMetadata(client, config)).ownerReferences,
          identity: config.podName,
          signal: active,
          logger,
          onStartedLeading: (term) => {
            metrics.leader.set(1);
            term.signal.addEventListener('abort', () => metrics.leader.set(0), { once: true });
            return leadAll(runnables, term);
          },
        }),
      );
    },
  };
}

/** A second signal, or an unhandled rejection, ends the process at once. */
function stopSignal(logger: Logger): AbortController {
  const controller = listenable();
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => {
      if (controller.signal.aborted) process.exit(1);
      logger.info({ signal: name }, 'stopping');
      controller.abort();
    });
  process.on('unhandledRejection', (error) => {
    // The state of the process is unknown, so Kubernetes restarts the container.
    logger.fatal({ err: error }, 'unhandled error, exiting');
    process.exit(1);
  });
  return controller;
}

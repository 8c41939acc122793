import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountFiles } from '../../runtime/contract.ts';
import { toFile } from '../../runtime/telemetry-proxy/types.ts';
import { upSince } from '../../runtime/telemetry-proxy/collector.ts';
import { toKubeconfig } from '../control-plane/files.ts';
import { freePorts, launch, type Running } from '../control-plane/processes.ts';
import { ensureBinaries } from '../programs/build.ts';
import { eventually } from '../testing/eventually.ts';
import { runCommand } from './command.ts';
import type { Changes } from './configuration.ts';
import type { Cluster } from './service-account.ts';

/** The telemetry proxy beside a manager. It restarts like its container in the operator's pod. */
export type Collector = Awaited<ReturnType<typeof startCollector>>;

/** Returns the values of the manager's configuration that the telemetry proxy beside it shares. */
export async function configureTelemetry(folder: string) {
  const [http = 0, grpc = 0, health = 0, metrics = 0, loop = 0, counts = 0, nodes = 0] = await freePorts(7);
  return {
    telemetryProxyDirectory: join(folder, 'telemetry-proxy'),
    telemetryProxyAccountDirectory: join(folder, 'telemetry-proxy-account'),
    telemetryProxyQueueDirectory: join(folder, 'telemetry-queue'),
    otlpHttpPort: http,
    otlpGrpcPort: grpc,
    telemetryLoopPort: loop,
    telemetryCountsPort: counts,
    nodeDataPort: nodes,
    telemetryHealthPort: health,
    telemetryMetricsPort: metrics,
    telemetryProxyCredentials: 'kubeConfig',
  } satisfies Changes;
}

interface CollectorOptions {
  readonly cluster: Omit<Cluster, 'client'>;
  readonly name: string;
  readonly telemetry: Awaited<ReturnType<typeof configureTelemetry>>;
  readonly environment: NodeJS.ProcessEnv;
  readonly serviceAccount: string;
  readonly args: readonly string[];
}

const UP_MS = 30_000;

/** Prepares the configuration as the pod's init container does, and starts the collector. Resolves when it is up. */
export async function startCollector(options: CollectorOptions) {
  const { cluster, telemetry, name, environment, serviceAccount } = options;
  const { otelcol = '' } = await ensureBinaries(['otelcol']);
  const prepared = await runCommand(['prepare-telemetry-proxy', '--service-account', serviceAccount], environment);
  if (prepared.code !== 0) throw new Error(`the telemetry proxy cannot be prepared: ${prepared.stderr}`);
  const kubeconfig = join(telemetry.telemetryProxyDirectory, 'kubeconfig');
  const tokenFile = join(telemetry.telemetryProxyAccountDirectory, accountFiles.token);
  writeFileSync(kubeconfig, toKubeconfig(cluster.server, cluster.ca, { tokenFile }), { mode: 0o600 });
  let stopping = false;
  let restarts = 0;
  const start = (): Running => {
    const running = launch({
      name: `${name}-collector`,
      path: otelcol,
      args: [`--config=${toFile(telemetry, 'configuration')}`, ...options.args],
      folder: cluster.dir,
      reaper: cluster.reaper,
      environment: { PATH: process.env['PATH'], KUBECONFIG: kubeconfig },
    });
    void running.died.then(async () => {
      await sleep(500);
      // The cluster may have ended first.
      if (stopping || !existsSync(cluster.dir)) return;
      restarts += 1;
      current = start();
    });
    return running;
  };
  let current = start();
  const { logFile } = current;
  const isUp = async () => {
    if ((await upSince({ listenAddress: '127.0.0.1', ...telemetry })) === undefined) throw new Error(`see ${logFile}`);
  };
  await eventually(isUp, { complaint: 'the collector was not up', timeoutMs: UP_MS, processes: [current] });
  return {
    ...telemetry,
    url: `http://127.0.0.1:${telemetry.otlpHttpPort}`,
    logFile,
    token: (): string => readFileSync(tokenFile, 'utf8'),
    pid: (): number => current.pid,
    restarts: (): number => restarts,
    async stop(): Promise<void> {
      stopping = true;
      await current.stop();
    },
  };
}

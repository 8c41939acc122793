import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountFiles } from '../../runtime/contract.ts';
import { configurationFile } from '../../runtime/telemetry-proxy/files.ts';
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

export type TelemetrySetup = Awaited<ReturnType<typeof prepareTelemetry>>;

export async function prepareTelemetry(folder: string) {
  const [http = 0, grpc = 0, health = 0, metrics = 0, loop = 0, counts = 0, nodes = 0] = await freePorts(7);
  const configuration = join(folder, 'telemetry-proxy');
  const accountFolder = join(folder, 'telemetry-proxy-account');
  const queueFolder = join(folder, 'telemetry-queue');
  return {
    folder: configuration,
    accountFolder,
    queueFolder,
    ports: { http, grpc, health, metrics, loop, counts, nodes },
    config: {
      telemetryProxyDirectory: configuration,
      telemetryProxyAccountDirectory: accountFolder,
      telemetryProxyQueueDirectory: queueFolder,
      otlpHttpPort: http,
      otlpGrpcPort: grpc,
      telemetryLoopPort: loop,
      telemetryCountsPort: counts,
      nodeDataPort: nodes,
      telemetryHealthPort: health,
      telemetryMetricsPort: metrics,
      telemetryProxyCredentials: 'kubeConfig',
    } satisfies Changes,
  };
}

export interface CollectorOptions {
  readonly cluster: Omit<Cluster, 'client'>;
  readonly name: string;
  readonly telemetry: TelemetrySetup;
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
  const kubeconfig = join(telemetry.folder, 'kubeconfig');
  const tokenFile = join(telemetry.accountFolder, accountFiles.token);
  writeFileSync(kubeconfig, toKubeconfig(cluster.server, cluster.ca, { tokenFile }), { mode: 0o600 });
  let stopping = false;
  let restarts = 0;
  const start = (): Running => {
    const running = launch({
      name: `${name}-collector`,
      path: otelcol,
      args: [`--config=${configurationFile({ telemetryProxyDirectory: telemetry.folder })}`, ...options.args],
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
  const health = { listenAddress: '127.0.0.1', telemetryHealthPort: telemetry.ports.health };
  const isUp = async () => {
    if ((await upSince(health)) === undefined) throw new Error(`see ${logFile}`);
  };
  await eventually(isUp, { complaint: 'the collector was not up', timeoutMs: UP_MS, processes: [current] });
  return {
    url: `http://127.0.0.1:${telemetry.ports.http}`,
    grpcPort: telemetry.ports.grpc,
    metricsPort: telemetry.ports.metrics,
    loopPort: telemetry.ports.loop,
    countsPort: telemetry.ports.counts,
    nodeDataPort: telemetry.ports.nodes,
    logFile,
    folder: telemetry.folder,
    queueFolder: telemetry.queueFolder,
    token: (): string => readFileSync(tokenFile, 'utf8'),
    pid: (): number => current.pid,
    restarts: (): number => restarts,
    crash: (): void => void process.kill(current.pid, 'SIGKILL'),
    async stop(): Promise<void> {
      stopping = true;
      await current.stop();
    },
  };
}

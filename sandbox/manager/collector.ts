import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { accountFiles } from '../../runtime/contract.ts';
import { configurationFile } from '../../runtime/telemetry-proxy/files.ts';
import { upSince } from '../../runtime/telemetry-proxy/collector.ts';
import { kubeconfigOf } from '../control-plane/files.ts';
import type { Guardian } from '../control-plane/guardian.ts';
import { freePorts, launch, whenAnswering, type Running } from '../control-plane/processes.ts';
import { ensureBinaries } from '../programs/build.ts';
import { runCommand } from './command.ts';

/** The telemetry proxy beside a manager: as its container in the operator's pod, restarted when it ends. */
export interface Collector {
  /** Where programs send to: `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly grpcPort: number;
  readonly metricsPort: number;
  /** On loopback, and only while it collects. */
  readonly loopPort: number;
  readonly logFile: string;
  readonly folder: string;
  readonly queueFolder: string;
  /** What it asks the API server with at present. */
  token(): string;
  pid(): number;
  /** How often it was started again. */
  restarts(): number;
  /** Ends it as a crash would; it comes back by itself. */
  crash(): void;
  stop(): Promise<void>;
}

export interface TelemetryPlace {
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  readonly accountFolder: string;
  readonly queueFolder: string;
  readonly ports: {
    readonly http: number;
    readonly grpc: number;
    readonly health: number;
    readonly metrics: number;
    readonly loop: number;
  };
}

/** Folders and ports for a manager and its collector. */
export async function telemetryPlace(folder: string): Promise<TelemetryPlace> {
  const [http = 0, grpc = 0, health = 0, metrics = 0, loop = 0] = await freePorts(5);
  const configuration = join(folder, 'telemetry-proxy');
  const accountFolder = join(folder, 'telemetry-proxy-account');
  const queueFolder = join(folder, 'telemetry-queue');
  return {
    folder: configuration,
    accountFolder,
    queueFolder,
    ports: { http, grpc, health, metrics, loop },
    environment: {
      LUMIGO_TELEMETRY_PROXY_DIR: configuration,
      LUMIGO_TELEMETRY_PROXY_ACCOUNT_DIR: accountFolder,
      LUMIGO_TELEMETRY_PROXY_QUEUE_DIR: queueFolder,
      LUMIGO_OTLP_HTTP_PORT: String(http),
      LUMIGO_OTLP_GRPC_PORT: String(grpc),
      LUMIGO_TELEMETRY_PROXY_HEALTH_PORT: String(health),
      LUMIGO_TELEMETRY_PROXY_METRICS_PORT: String(metrics),
      LUMIGO_TELEMETRY_PROXY_LOOP_PORT: String(loop),
      LUMIGO_TELEMETRY_PROXY_CREDENTIALS: 'kubeConfig',
    },
  };
}

export interface CollectorOptions {
  readonly cluster: { readonly dir: string; readonly server: string; readonly ca: string; readonly guardian: Guardian };
  readonly name: string;
  readonly place: TelemetryPlace;
  /** The manager's whole environment. */
  readonly environment: NodeJS.ProcessEnv;
  /** Where the files of the manager's ServiceAccount are. */
  readonly serviceAccount: string;
  /** What the manifests give the container. */
  readonly args: readonly string[];
}

const UP_MS = 30_000;

/** Prepares the configuration as the pod's init container does, and starts the collector. Resolves when it is up. */
export async function startCollector(options: CollectorOptions): Promise<Collector> {
  const { cluster, place, name, environment, serviceAccount } = options;
  const { otelcol = '' } = await ensureBinaries(['otelcol']);
  const prepared = await runCommand(['--prepare-telemetry-proxy', '--service-account', serviceAccount], environment);
  if (prepared.code !== 0) throw new Error(`the telemetry proxy cannot be prepared: ${prepared.stderr}`);
  const kubeconfig = join(place.folder, 'kubeconfig');
  const tokenFile = join(place.accountFolder, accountFiles.token);
  writeFileSync(kubeconfig, kubeconfigOf(cluster.server, cluster.ca, { tokenFile }), { mode: 0o600 });
  let stopping = false;
  let restarts = 0;
  const start = (): Running => {
    const running = launch({
      name: `${name}-collector`,
      path: otelcol,
      args: [`--config=${configurationFile(place.folder)}`, ...options.args],
      folder: cluster.dir,
      guardian: cluster.guardian,
      environment: { PATH: process.env['PATH'], KUBECONFIG: kubeconfig },
    });
    void running.died.then(async () => {
      await sleep(500);
      // Its cluster may have been taken down without it.
      if (stopping || !existsSync(cluster.dir)) return;
      restarts += 1;
      current = start();
    });
    return running;
  };
  let current = start();
  await whenAnswering(
    {
      complaint: 'the collector was not up',
      withinMs: UP_MS,
      processes: [current],
      detail: () => `see ${current.logFile}`,
    },
    async () => (await upSince('127.0.0.1', place.ports.health)) !== undefined,
  );
  return {
    url: `http://127.0.0.1:${place.ports.http}`,
    grpcPort: place.ports.grpc,
    metricsPort: place.ports.metrics,
    loopPort: place.ports.loop,
    logFile: current.logFile,
    folder: place.folder,
    queueFolder: place.queueFolder,
    token: () => readFileSync(tokenFile, 'utf8'),
    pid: () => current.pid,
    restarts: () => restarts,
    crash: () => void process.kill(current.pid, 'SIGKILL'),
    async stop() {
      stopping = true;
      await current.stop();
    },
  };
}

import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { bundlePath } from '../../infra/release/bundle.ts';
import { paths } from '../../runtime/contract.ts';
import type { KeyPair } from '../../runtime/certificates/issue.ts';
import { answerTo, type Answer } from '../answer.ts';
import { freePorts, launch, type Running } from '../control-plane/processes.ts';
import { eventually } from '../testing/eventually.ts';
import { configureTelemetry, startCollector, type Collector } from './collector.ts';
import { getEnvironment, type Changes } from './configuration.ts';
import { flagsFor } from './image-flags.ts';
import { install, managerPod, withoutNodes, type Installation } from './install.ts';
import { getAddressVariables, writeServiceAccount, type Cluster } from './service-account.ts';

export interface ManagerOptions {
  /** The pod's name, which holds the Lease. It must be unique. */
  readonly name?: string;
  readonly webhookPort: number;
  /** Values that differ from the manifests. */
  readonly config?: Changes;
  readonly environment?: Readonly<Record<string, string>>;
  /** The bundled program. Default: this version's. */
  readonly program?: string;
  readonly node?: string;
  /** Runs the telemetry proxy beside it. Default: no. */
  readonly collector?: boolean;
  /** Waits until it is ready. Default: yes. */
  readonly awaitsReady?: boolean;
}

export type Manager = Awaited<ReturnType<typeof startManager>>;

const READY_MS = 120_000;

/** There is no kubelet and no Service. No program listens at the endpoint. A test that needs one sets it. */
const besideATest: Changes = {
  drainSeconds: 0,
  listenAddress: '127.0.0.1',
  webhookHost: '127.0.0.1',
  endpoint: 'http://127.0.0.1:9',
};

/** Runs the manager as a process with the token of its ServiceAccount, so that its RBAC limits it. */
export async function startManager(cluster: Cluster, installation: Installation, options: ManagerOptions) {
  const { name = 'manager-0', webhookPort, program = bundlePath, node = process.execPath } = options;
  const folder = join(cluster.dir, name);
  const [healthPort = 0, metricsPort = 0] = await freePorts(2);
  const certificates = join(folder, 'certificates');
  writeCertificate(certificates, installation.certificate, installation.authority.certificate);
  const serviceAccount = join(folder, 'service-account');
  await writeServiceAccount(cluster, installation, serviceAccount);
  const telemetry = await configureTelemetry(folder);
  const own = { ...besideATest, webhookPort, healthPort, metricsPort, certificatesDirectory: certificates };
  const environment = {
    PATH: process.env['PATH'],
    ...getAddressVariables(cluster),
    ...getEnvironment({ ...installation.config, ...own, ...telemetry, ...options.config }, name),
    ...options.environment,
  };
  let collector: Collector | undefined;
  const joinCollector = async () => {
    const args = installation.collectorArgs;
    collector = await startCollector({ cluster, name, telemetry, environment, serviceAccount, args });
  };
  if (options.collector === true) await joinCollector();
  const started = performance.now();
  const running = launch({
    name,
    path: node,
    args: [...flagsFor(node), program, 'manager', '--service-account', serviceAccount],
    folder: cluster.dir,
    reaper: cluster.reaper,
    environment,
    // The time is that of its pod.
    graceMs: (managerPod(installation.manifests).terminationGracePeriodSeconds ?? 0) * 1_000,
  });
  if (options.awaitsReady !== false) await waitForReady(running, healthPort);
  return {
    ...running,
    webhookPort,
    healthPort,
    metricsPort,
    certificates,
    get collector(): Collector | undefined {
      return collector;
    },
    joinCollector,
    /** Milliseconds from the start of the process until it was ready. */
    readyAfterMs: performance.now() - started,
    async stop(signal?: NodeJS.Signals): Promise<void> {
      // The collector's container would end with the pod.
      await Promise.all([running.stop(signal), collector?.stop()]);
    },
    readiness: (): Promise<Answer> => get(healthPort, paths.ready),
    /** Returns the sum of a metric over its labels, or over series with a label such as `kind="Job"`. */
    metric: async (metric: string, label = ''): Promise<number> =>
      sumMetric(metric, label, (await get(metricsPort, paths.metrics)).text),
  };
}

/** Installs the operator in a cluster without pods, with a manager beside it. */
export async function addOperator(
  cluster: Cluster,
  options: Omit<ManagerOptions, 'webhookPort'> = {},
): Promise<Manager> {
  const [webhookPort = 0] = await freePorts(1);
  const installation = await install(cluster.client, { webhook: webhookPort, settings: withoutNodes });
  return startManager(cluster, installation, { ...options, webhookPort });
}

/** Writes a certificate atomically, as a Secret volume does. */
export function writeCertificate(folder: string, { certificate, key }: KeyPair, authority: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  for (const [name, text] of Object.entries({ 'ca.crt': authority, 'tls.key': key, 'tls.crt': certificate })) {
    writeFileSync(join(folder, `.${name}`), text, { mode: 0o600 });
    renameSync(join(folder, `.${name}`), join(folder, name));
  }
}

const waitForReady = (running: Running, port: number): Promise<void> =>
  eventually(
    async () => {
      const { status, text } = await get(port, paths.ready);
      if (status !== 200) throw new Error(text);
    },
    { complaint: 'the manager was not ready', timeoutMs: READY_MS, intervalMs: 50, processes: [running] },
  );

/** A connection that is kept alive may be closed by the manager at the moment of the next request. */
const get = (port: number, path: string): Promise<Answer> =>
  answerTo(request({ host: '127.0.0.1', port, path, agent: false }).end());

/** Returns the sum of the series whose line has this text; 0 if there is none. */
export function sumMetric(name: string, label: string, exposition: string): number {
  const lines = exposition
    .split('\n')
    .filter((line) => (line.startsWith(`${name} `) || line.startsWith(`${name}{`)) && line.includes(label));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

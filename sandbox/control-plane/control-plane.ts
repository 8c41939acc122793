import { mkdtempSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type Client } from '../../runtime/kubernetes/http/client.ts';
import type { Transport } from '../../runtime/kubernetes/http/transport.ts';
import { ensureBinaries } from '../programs/build.ts';
import type { Progress } from '../programs/progress.ts';
import { eventually } from '../testing/eventually.ts';
import { connectTo } from './connect.ts';
import { writeFiles, type Credentials } from './files.ts';
import { apiServerFlags, auditPolicy, controllerManagerFlags, etcdData, etcdFlags, type Addresses } from './flags.ts';
import { startReaper, type Reaper } from './reaper.ts';
import { loopback, type Host } from './host.ts';
import type { Running } from './processes.ts';
import { stopOnError } from '../stop-on-error.ts';

export interface ControlPlaneOptions {
  /** The folder for files, which must not exist yet. Default: a temporary one. */
  readonly dir?: string;
  /** True: the audit log has metadata of each request. A text is a policy. */
  readonly audit?: boolean | string;
  /** Without it, there is no garbage collection, deletion of namespaces or creation of ReplicaSets. It can join later. Default: true. */
  readonly controllerManager?: boolean;
  readonly apiServerFlags?: readonly string[];
  /** Puts a proxy between the API server and the port of etcd. Returns the port of the proxy. */
  readonly etcdThrough?: (port: number) => Promise<number>;
  readonly onProgress?: Progress;
  /** Default: loopback. */
  readonly host?: Host;
  /** The reaper that removes processes and files. Default: a new one. */
  readonly reaper?: Reaper;
}

export interface ControlPlane extends Credentials {
  readonly dir: string;
  readonly server: string;
  readonly etcd: string;
  readonly auditLog: string;
  readonly client: Client;
  readonly reaper: Reaper;
  /** Keys: etcd, apiserver, controllerManager. */
  pids(): Readonly<Record<string, number>>;
  joinControllerManager(): Promise<void>;
  restartApiServer(options?: {
    downtimeMs?: number;
    signal?: NodeJS.Signals;
    flags?: readonly string[];
  }): Promise<void>;
  /** Ends all processes, calls the action with etcd's data folder, and starts them again. */
  whileDown(action: (etcdData: string) => Promise<void> | void): Promise<void>;
  stop(): Promise<void>;
}

const READY_MS = 100_000;
const POLL_MS = 50;

/** Starts a real control plane without root. It ends with this process, unless the reaper is released. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { controllerManager = true, onProgress = () => undefined } = options;
  const first = ['etcd', 'kube-apiserver'];
  const binaries = await ensureBinaries(controllerManager ? [...first, 'kube-controller-manager'] : first, onProgress);
  // If a reaper is given, its folder exists.
  const { dir = '', reaper: given } = options;
  const { folder, reaper } = given === undefined ? newHome(options.dir) : { folder: dir, reaper: given };
  return stopOnError(reaper, () => start(folder, reaper, binaries, options));
}

function newHome(dir: string | undefined) {
  if (dir !== undefined && existsSync(dir))
    throw new Error(`the folder ${dir} exists already; choose another one, or take down what runs there`);
  const folder = dir ?? mkdtempSync(join(tmpdir(), 'lumigo-sandbox-'));
  return { folder, reaper: startReaper(folder) };
}

async function start(
  folder: string,
  reaper: Reaper,
  binaries: Readonly<Record<string, string>>,
  options: ControlPlaneOptions,
): Promise<ControlPlane> {
  const { audit = false, controllerManager = true, host = loopback } = options;
  const ports = await host.ports();
  const etcdPort = (await options.etcdThrough?.(ports.etcd)) ?? ports.etcd;
  const server = `https://${host.address}:${ports.api}`;
  const credentials = await writeFiles(folder, server, host, typeof audit === 'string' ? audit : auditPolicy);
  const transport = connectTo({ ...credentials, server }, { userAgent: 'lumigo-sandbox', maxSockets: 16 });
  const addresses: Addresses = { folder, ports, host, etcdPort };
  const run: Run = (name, path = '', args) => host.launch({ name, path, args, folder, reaper });
  const processes = createProcesses(run, transport, addresses, { ...options, binaries });
  const { running, joinControllerManager, startApiServer } = processes;
  await processes.startStore();
  if (controllerManager) await joinControllerManager();
  return {
    ...credentials,
    dir: folder,
    server,
    etcd: `http://127.0.0.1:${ports.etcd}`,
    auditLog: join(folder, 'audit.log'),
    client: createClient(transport),
    reaper,
    pids: () => Object.fromEntries([...running].map(([name, { pid }]) => [name, pid])),
    joinControllerManager,
    async restartApiServer({ downtimeMs = 0, signal = 'SIGKILL', flags = [] } = {}) {
      await running.get('apiserver')?.stop(signal);
      await sleep(downtimeMs);
      await startApiServer(flags);
      // Controllers that miss the API server for seconds would wait for up to a minute, so they are restarted.
      await running.get('controllerManager')?.stop('SIGKILL');
      if (running.has('controllerManager')) await joinControllerManager();
    },
    async whileDown(action) {
      const hasControllers = running.has('controllerManager');
      await processes.stop();
      await action(etcdData(folder));
      await processes.startStore();
      if (hasControllers) await joinControllerManager();
    },
    async stop() {
      transport.close();
      await processes.stop();
      await reaper.stop();
    },
  };
}

type Run = (name: string, path: string | undefined, args: readonly string[]) => Running;
type ProcessOptions = ControlPlaneOptions & { readonly binaries: Readonly<Record<string, string>> };

function createProcesses(run: Run, transport: Transport, addresses: Addresses, options: ProcessOptions) {
  const { audit = false, binaries, onProgress = () => undefined } = options;
  const running = new Map<string, Running>();
  const startApiServer = async (flags: readonly string[] = []) => {
    const own = [...apiServerFlags(addresses, audit !== false), ...(options.apiServerFlags ?? [])];
    running.set('apiserver', run('apiserver', binaries['kube-apiserver'], [...own, ...flags]));
    await waitForReady(transport, running.values());
  };
  const startStore = async () => {
    running.set('etcd', run('etcd', binaries['etcd'], etcdFlags(addresses)));
    await startApiServer();
  };
  const joinControllerManager = async () => {
    const { 'kube-controller-manager': path } = await ensureBinaries(['kube-controller-manager'], onProgress);
    running.set('controllerManager', run('controllerManager', path, controllerManagerFlags(addresses)));
  };
  const stop = async () => {
    for (const process of [...running.values()].reverse()) await process.stop();
    running.clear();
  };
  return { running, startApiServer, startStore, joinControllerManager, stop };
}

/** Resolves when the API server is ready. Rejects with the end of the log if a process dies before. */
const waitForReady = (transport: Transport, processes: Iterable<Running>) =>
  eventually(() => transport.request({ method: 'GET', path: '/readyz', timeoutMs: 2_000 }), {
    complaint: 'the API server was not ready',
    timeoutMs: READY_MS,
    intervalMs: POLL_MS,
    processes,
  });

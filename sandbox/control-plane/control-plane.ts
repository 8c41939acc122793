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

export interface ControlPlaneOptions {
  /** Where it keeps its files; left out: a temporary folder. It must not exist yet. */
  readonly dir?: string;
  /** Whether requests are noted: who asked for what, or whatever a policy given here says. */
  readonly audit?: boolean | string;
  /** Without it nothing collects garbage, deletes namespaces or makes ReplicaSets; it can join later. Default true. */
  readonly controllerManager?: boolean;
  readonly apiServerFlags?: readonly string[];
  /** Puts something between the API server and the etcd at a port; resolves with the port to find it at. */
  readonly etcdThrough?: (port: number) => Promise<number>;
  readonly onProgress?: Progress;
  /** Left out: this machine's loopback. */
  readonly host?: Host;
  /** Who sees to it that nothing is left; left out: one of its own. */
  readonly reaper?: Reaper;
}

export interface ControlPlane extends Credentials {
  readonly dir: string;
  /** `https://ADDRESS:PORT` */
  readonly server: string;
  readonly etcd: string;
  readonly auditLog: string;
  /** As the administrator. */
  readonly client: Client;
  readonly reaper: Reaper;
  /** Processes by name: etcd, apiserver, controllerManager. */
  pids(): Readonly<Record<string, number>>;
  joinControllerManager(): Promise<void>;
  /** Ends the API server and starts it anew on the same port and data. */
  restartApiServer(options?: {
    downtimeMs?: number;
    signal?: NodeJS.Signals;
    /** Beside its own, for this start. */
    flags?: readonly string[];
  }): Promise<void>;
  /** Ends everything, does something with etcd's data, and starts everything anew. */
  whileDown(action: (etcdData: string) => Promise<void> | void): Promise<void>;
  /** Ends everything and removes the folder. */
  stop(): Promise<void>;
}

const READY_MS = 60_000;
const POLL_MS = 50;

/**
 * Starts a real control plane on loopback, without root: etcd, kube-apiserver with TLS and RBAC, kube-controller-manager.
 * Resolves when the API server is ready. Nothing of it outlives this process, unless the reaper is released.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const { controllerManager = true, onProgress = () => undefined } = options;
  const first = ['etcd', 'kube-apiserver'];
  const binaries = await ensureBinaries(controllerManager ? [...first, 'kube-controller-manager'] : first, onProgress);
  // Whoever brings a reaper along has made the folder as well.
  const { dir = '', reaper: given } = options;
  const { folder, reaper } = given === undefined ? newHome(options.dir) : { folder: dir, reaper: given };
  try {
    return await start(folder, reaper, binaries, options);
  } catch (error) {
    await reaper.end();
    throw error;
  }
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
  const processes = processesOf(run, transport, addresses, { ...options, binaries });
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
      // Controllers that saw it away for seconds would wait for up to a minute before they look again.
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
      await reaper.end();
    },
  };
}

type Run = (name: string, path: string | undefined, args: readonly string[]) => Running;
type ProcessOptions = ControlPlaneOptions & { readonly binaries: Readonly<Record<string, string>> };

/** The processes of the control plane, none of which runs yet. */
function processesOf(run: Run, transport: Transport, addresses: Addresses, options: ProcessOptions) {
  const { audit = false, binaries, onProgress = () => undefined } = options;
  const running = new Map<string, Running>();
  const startApiServer = async (flags: readonly string[] = []) => {
    const own = [...apiServerFlags(addresses, audit !== false), ...(options.apiServerFlags ?? [])];
    running.set('apiserver', run('apiserver', binaries['kube-apiserver'], [...own, ...flags]));
    await whenReady(transport, running.values());
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

/** Resolves when the API server says that it is ready; rejects with the log's end when a process dies before. */
const whenReady = (transport: Transport, processes: Iterable<Running>) =>
  eventually(() => transport.request({ method: 'GET', path: '/readyz', timeoutMs: 2_000 }), {
    ...{ complaint: 'the API server was not ready', timeoutMs: READY_MS, intervalMs: POLL_MS, processes },
  });

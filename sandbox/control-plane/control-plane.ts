import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '../../runtime/kubernetes/http/client.ts';
import type { Transport } from '../../runtime/kubernetes/http/transport.ts';
import { ensureBinaries } from '../programs/build.ts';
import type { Progress } from '../programs/progress.ts';
import { eventually } from '../testing/eventually.ts';
import { connectTo } from './connect.ts';
import { writeFiles } from './files.ts';
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
  /** Default: a new one in `dir`. */
  readonly home?: Home;
}

/** A folder for files, and the reaper that deletes it after its processes. */
export interface Home {
  readonly folder: string;
  readonly reaper: Reaper;
}

export type ControlPlane = Awaited<ReturnType<typeof startControlPlane>>;

const READY_MS = 100_000;

/** Starts a real control plane without root. It ends with this process, unless the reaper is released. */
export async function startControlPlane(options: ControlPlaneOptions = {}) {
  const { controllerManager = true, onProgress } = options;
  // Without one of them, nothing is started.
  const programs = ['etcd', 'kube-apiserver', ...(controllerManager ? ['kube-controller-manager'] : [])];
  await ensureBinaries(programs, onProgress);
  const home = options.home ?? createHome(options.dir);
  return stopOnError(home.reaper, () => start(home, options));
}

export function createHome(dir: string | undefined, cleanup?: string): Home {
  if (dir !== undefined && existsSync(dir))
    throw new Error(`the folder ${dir} exists already; choose another one, or take down what runs there`);
  const folder = dir ?? mkdtempSync(join(tmpdir(), 'lumigo-sandbox-'));
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { folder, reaper: startReaper(folder, cleanup) };
}

async function start({ folder, reaper }: Home, options: ControlPlaneOptions) {
  const { audit = false, controllerManager = true, host = loopback } = options;
  const ports = await host.ports();
  const etcdPort = (await options.etcdThrough?.(ports.etcd)) ?? ports.etcd;
  const server = `https://${host.address}:${ports.api}`;
  const credentials = await writeFiles(folder, server, host, typeof audit === 'string' ? audit : auditPolicy);
  const transport = connectTo({ ...credentials, server }, { userAgent: 'lumigo-sandbox', maxSockets: 16 });
  const processes = createProcesses({ folder, ports, host, etcdPort }, reaper, transport, options);
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
    /** Keys: etcd, apiserver, controllerManager. */
    pids: (): Readonly<Record<string, number>> =>
      Object.fromEntries([...running].map(([name, { pid }]) => [name, pid])),
    joinControllerManager,
    async restartApiServer({ downtimeMs = 0, signal = 'SIGKILL' as NodeJS.Signals, flags = [] as string[] } = {}) {
      await running.get('apiserver')?.stop(signal);
      await sleep(downtimeMs);
      await startApiServer(flags);
      // Controllers that miss the API server for seconds would wait for up to a minute, so they are restarted.
      await running.get('controllerManager')?.stop('SIGKILL');
      if (running.has('controllerManager')) await joinControllerManager();
    },
    /** Ends all processes, calls the action with etcd's data folder, and starts them again. */
    async whileDown(action: (etcdData: string) => Promise<void> | void): Promise<void> {
      const hasControllers = running.has('controllerManager');
      await processes.stop();
      await action(etcdData(folder));
      await processes.startStore();
      if (hasControllers) await joinControllerManager();
    },
    async stop(): Promise<void> {
      transport.close();
      await processes.stop();
      await reaper.stop();
    },
  };
}

function createProcesses(addresses: Addresses, reaper: Reaper, transport: Transport, options: ControlPlaneOptions) {
  const { folder, host } = addresses;
  const running = new Map<string, Running>();
  const run = async (name: string, program: string, args: readonly string[]) => {
    const { [program]: path = '' } = await ensureBinaries([program], options.onProgress);
    running.set(name, host.launch({ name, path, args, folder, reaper }));
  };
  const startApiServer = async (flags: readonly string[] = []) => {
    const { audit = false, apiServerFlags: more = [] } = options;
    await run('apiserver', 'kube-apiserver', [...apiServerFlags(addresses, audit !== false), ...more, ...flags]);
    await waitForReady(transport, running.values());
  };
  const startStore = async () => {
    await run('etcd', 'etcd', etcdFlags(addresses));
    await startApiServer();
  };
  const joinControllerManager = () =>
    run('controllerManager', 'kube-controller-manager', controllerManagerFlags(addresses));
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
    intervalMs: 50,
    processes,
  });

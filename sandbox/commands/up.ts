import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ensureBundle } from '../../infra/release/bundle.ts';
import { installOnNode, startNodeWithSink } from '../node/operator.ts';
import { whyNoNode } from '../node/requirements.ts';
import { ensureBinaries } from '../programs/build.ts';
import { startControlPlane, type ControlPlane } from '../control-plane/control-plane.ts';
import { addOperator } from '../manager/manager.ts';
import { beganAt, isRunning, readState, writeState, type SandboxState } from '../state.ts';
import { stopOnError } from '../stop-on-error.ts';
import { defaultDir, down } from './down.ts';
import { summary, type StatusOptions } from './status.ts';

export interface UpOptions extends StatusOptions {
  readonly bare?: boolean;
  readonly node?: boolean;
}

const say = (line: string): void => void process.stderr.write(`  ${line}\n`);

/** Starts a sandbox that outlives this command. If the command ends before it is ready, all of it ends. `down` ends it later. */
export async function up({ dir: given, bare = false, json = false, node = false }: UpOptions): Promise<void> {
  const dir = resolve(given);
  await refuseOrClear(dir);
  const why = node ? whyNoNode() : undefined;
  if (why !== undefined) throw new Error(why);
  const programs = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'];
  const { kubectl = '' } = await ensureBinaries(programs, say);
  mkdirSync(dirname(dir), { recursive: true });
  const started = node ? await startWithNode(dir, bare) : await startWithoutNode(dir, bare);
  const state = getState(started, kubectl);
  writeState(state);
  started.cluster.reaper.release();
  process.stdout.write(json ? `${JSON.stringify(summary(state))}\n` : forPeople(state, bare));
  process.exit(0);
}

/** Each folder has one sandbox. Leftovers of a crash or a reboot are deleted. */
async function refuseOrClear(dir: string): Promise<void> {
  const there = readState(dir);
  if (there?.processes.some(isRunning) === true)
    throw new Error(
      `a sandbox already runs in ${dir} (since ${there.startedAt}). Stop it with 'npm run sandbox -- down --dir ${dir}', or choose another --dir`,
    );
  if (there !== undefined) await down({ dir });
}

interface Started {
  readonly cluster: ControlPlane;
  /** The processes that end before those of the cluster. */
  readonly first?: Readonly<Record<string, number>>;
  readonly cleanup?: string;
  readonly sink?: string;
}

async function startWithoutNode(dir: string, bare: boolean): Promise<Started> {
  const cluster = await startControlPlane({ dir, onProgress: say });
  endOnSignal(cluster);
  if (bare) return { cluster };
  await ensureBundle();
  const manager = await stopOnError(cluster, () => addOperator(cluster));
  return { cluster, first: { manager: manager.pid } };
}

/** With `bare`, the images are on the node, but nothing is installed. */
async function startWithNode(dir: string, bare: boolean): Promise<Started> {
  const { node: cluster, sink } = await startNodeWithSink({ dir, onProgress: say });
  endOnSignal(cluster);
  if (!bare) await stopOnError(cluster, () => installOnNode(cluster, sink.url));
  return { cluster, first: { node: cluster.namespacesPid }, cleanup: cluster.cleanup, sink: sink.url };
}

/** The reaper cleans up after this process. */
function endOnSignal(cluster: ControlPlane): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void cluster.reaper.stop().then(() => process.exit(130)));
}

function getState({ cluster, first, cleanup = '', sink }: Started, kubectl: string): SandboxState {
  const pids = { ...first, ...Object.fromEntries(Object.entries(cluster.pids()).reverse()) };
  const { dir, server, kubeconfig, token } = cluster;
  return {
    dir,
    server,
    kubeconfig,
    token,
    kubectl,
    cleanup,
    sink,
    startedAt: new Date().toISOString(),
    processes: Object.entries(pids).map(([name, pid]) => ({ name, pid, began: beganAt(pid) ?? '' })),
  };
}

function forPeople({ kubeconfig, kubectl, server, dir, sink }: SandboxState, bare: boolean): string {
  return [
    '',
    `Kubernetes runs at ${server}${bare ? '' : ', and the operator is installed and runs'}.`,
    '',
    `  export KUBECONFIG=${kubeconfig}`,
    `  alias kubectl=${kubectl}`,
    '',
    'Try:',
    `  kubectl get ${bare ? 'namespaces' : 'crd lumigoes.operator.lumigo.io'}`,
    `  kubectl create deployment hello --image=${sink === undefined ? 'hello:1' : 'sandbox.local/shop-node:1'}`,
    ...(sink === undefined
      ? []
      : [`  curl '${sink}/sandbox/received'     (all telemetry received in place of Lumigo)`]),
    '',
    `To stop it: npm run sandbox -- down${dir === defaultDir() ? '' : ` --dir ${dir}`}`,
    '',
  ].join('\n');
}

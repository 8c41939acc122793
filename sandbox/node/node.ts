import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V1NodeStatus } from '@kubernetes/client-node';
import {
  createHome,
  startControlPlane,
  type ControlPlane,
  type ControlPlaneOptions,
  type Home,
} from '../control-plane/control-plane.ts';
import { toKubeconfig } from '../control-plane/files.ts';
import type { Host } from '../control-plane/host.ts';
import type { Running } from '../control-plane/processes.ts';
import { issueServing } from '../../runtime/certificates/issue.ts';
import { ensureBinaries } from '../programs/build.ts';
import { cacheFolder } from '../programs/cache.ts';
import { nodeComponents } from '../programs/components.ts';
import type { ImageArchive } from '../images/images.ts';
import { hasCondition } from '../lumigo.ts';
import { run } from '../run.ts';
import { eventually } from '../testing/eventually.ts';
import { takeSlot, type Slot } from './addresses.ts';
import { openLinuxNamespaces, type LinuxNamespaces } from './linux-namespaces.ts';
import { makeCgroups, removeCgroups, restoreSysctls, SYSCTLS } from './kernel.ts';
import {
  cniConfig,
  containerdConfig,
  containerdSocket,
  kubeletConfig,
  nodeName,
  proxyConfig,
  type NodeFolders,
} from './configs.ts';
import { deployDns } from './dns.ts';
import { whyNoNode } from './requirements.ts';
import { stopOnError } from '../stop-on-error.ts';

export type NodeCluster = Awaited<ReturnType<typeof startNode>>;

export interface NodeOptions extends ControlPlaneOptions {
  readonly kubelet?: object;
}

const READY_MS = 60_000;

/** Starts a node beside a control plane. It ends with this process, unless the reaper is released. @throws Error if no node can run */
export async function startNode(images: readonly ImageArchive[], options: NodeOptions) {
  const why = whyNoNode();
  if (why !== undefined) throw new Error(why);
  const names = nodeComponents.map(({ name }) => name);
  const programs = await ensureBinaries(names, options.onProgress);
  // A new lock replaces that of a crashed node, with the values in it.
  const restore = restoreSysctls();
  const slot = takeSlot();
  writeFileSync(join(slot.lock, SYSCTLS), restore);
  const cleanup = toCleanup(slot, restore);
  const home = createHomeOf(slot, options.dir, cleanup);
  return stopOnError(home.reaper, () => start(home, slot, { ...options, images, cleanup }, programs));
}

/** From here on, the reaper of the home releases the number. */
function createHomeOf({ lock }: Slot, dir: string | undefined, cleanup: string): Home {
  try {
    return createHome(dir, cleanup);
  } catch (error) {
    rmSync(lock, { recursive: true });
    throw error;
  }
}

/** It does nothing after another node took the number. */
const toCleanup = ({ cgroup, link, lock }: Slot, sysctls: string): string => `
if grep -qx ${process.pid} ${lock}/pid; then
${sysctls}
${removeCgroups(cgroup)}
ip link del ${link} 2>/dev/null
rm -rf ${lock}
fi`;

async function start(
  home: Home,
  slot: Slot,
  options: NodeOptions & { readonly images: readonly ImageArchive[]; readonly cleanup: string },
  programs: Readonly<Record<string, string>>,
) {
  const { folder, reaper } = home;
  const folders: NodeFolders = { folder, images: join(cacheFolder(process.env), 'node', `images-${slot.number}`) };
  const linux = await openLinuxNamespaces(folder, slot, makeCgroups(slot.cgroup), reaper);
  const nodeToken = randomBytes(24).toString('base64url');
  const cluster = await startControlPlane({ ...options, home, host: hostIn(linux, slot, folder, nodeToken) });
  await writeNodeFiles({ ...folders, kubelet: options.kubelet }, slot, cluster, nodeToken);
  const running = new Map<string, Running>();
  const begin = (name: string, path: string, args: readonly string[]) =>
    running.set(name, linux.launch({ name, path, args, folder, reaper }));
  const kubelet = () =>
    begin('kubelet', programs['kubelet'] ?? '', [
      `--config=${join(folder, 'kubelet.json')}`,
      `--kubeconfig=${join(folder, 'kubelet.kubeconfig')}`,
      `--root-dir=${join(folder, 'kubelet')}`,
      `--hostname-override=${nodeName}`,
      `--node-ip=${slot.nodeAddress}`,
    ]);
  begin('containerd', 'containerd', ['-c', join(folder, 'containerd.toml')]);
  await waitForContainerd(folder, running.values());
  forgetContainers(folder);
  for (const image of options.images) importImage(folders, image);
  begin('scheduler', programs['kube-scheduler'] ?? '', [
    `--kubeconfig=${join(folder, 'kubeconfig')}`,
    '--leader-elect=false',
  ]);
  begin('proxy', programs['kube-proxy'] ?? '', [`--config=${join(folder, 'proxy.json')}`]);
  kubelet();
  await deployDns(cluster.client, slot.dnsAddress);
  await waitForReady(cluster, running.values());
  return {
    ...cluster,
    slot,
    /** All other processes end with this one. */
    namespacesPid: linux.pid,
    /** Shell commands that undo changes of this machine after the processes exit. */
    cleanup: options.cleanup,
    launchInNode: linux.launch,
    pids: (): Readonly<Record<string, number>> => ({
      ...cluster.pids(),
      ...Object.fromEntries([...running].map(([name, { pid }]) => [name, pid])),
    }),
    async restartKubelet(): Promise<void> {
      await running.get('kubelet')?.stop('SIGKILL');
      kubelet();
    },
    // All processes end with the first one of the namespaces.
    stop: reaper.stop,
  };
}

const hostIn = (linux: LinuxNamespaces, slot: Slot, folder: string, nodeToken: string): Host => ({
  address: slot.nodeAddress,
  serviceRange: slot.serviceRange,
  serviceAddress: slot.serviceAddress,
  launch: linux.launch,
  ports: () => Promise.resolve({ etcd: 2379, etcdPeer: 2380, api: 6443 }),
  users: [`${nodeToken},system:node:${nodeName},node,"system:nodes"`],
  apiServerFlags: [
    '--enable-admission-plugins=NodeRestriction',
    `--kubelet-client-certificate=${join(folder, 'kubelet-client.crt')}`,
    `--kubelet-client-key=${join(folder, 'kubelet-client.key')}`,
    `--kubelet-certificate-authority=${join(folder, 'ca.crt')}`,
    '--kubelet-preferred-address-types=InternalIP',
  ],
  controllerManagerFlags: ['--allocate-node-cidrs=true', `--cluster-cidr=${slot.podRange}`, '--node-cidr-mask-size=24'],
});

async function writeNodeFiles(folders: NodeFolders, slot: Slot, cluster: ControlPlane, token: string): Promise<void> {
  const { folder, images } = folders;
  const validity = { now: new Date(), days: 365 };
  for (const each of ['cni/net.d', 'containerd', 'kubelet']) mkdirSync(join(folder, each), { recursive: true });
  mkdirSync(images, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o600 });
  const kubelet = await issueServing(cluster.authority, [nodeName, slot.nodeAddress], validity);
  write('kubelet.crt', kubelet.certificate);
  write('kubelet.key', kubelet.key);
  write('cni/net.d/10-sandbox.conflist', cniConfig(folders, slot));
  write('containerd.toml', containerdConfig(folders));
  write('kubelet.json', kubeletConfig(folders, slot));
  write('proxy.json', proxyConfig(folders, slot));
  write('resolv.conf', 'options ndots:5\n');
  write('kubelet.kubeconfig', toKubeconfig(cluster.server, cluster.ca, { token }));
}

const ctr = (folder: string, ...args: readonly string[]): string =>
  run('ctr', ['--address', containerdSocket(folder), '--namespace', 'k8s.io', ...args]);

/** The next cluster uses the images, but not the containers of the last one. */
function forgetContainers(folder: string): void {
  const left = ctr(folder, 'containers', 'list', '--quiet').split('\n').filter(Boolean);
  if (left.length > 0) ctr(folder, 'containers', 'delete', ...left);
}

/** Imports an image archive, unless a file beside the images shows that its name still has this content. */
function importImage({ folder, images }: NodeFolders, { archive, names }: ImageArchive): void {
  const [name = '', ...aliases] = names;
  const mark = join(images, `imported-${name.replaceAll('/', '_')}`);
  if (existsSync(mark) && readFileSync(mark, 'utf8') === archive) return;
  ctr(folder, 'images', 'import', archive);
  for (const alias of aliases) ctr(folder, 'images', 'tag', '--force', name, alias);
  writeFileSync(mark, archive);
}

/** The line of containerd's log from which on it accepts a kubelet: it has recovered what an earlier cluster left. */
const RECOVERED = 'Start streaming server';

const waitForContainerd = (folder: string, processes: Iterable<Running>): Promise<void> =>
  eventually(
    () => {
      if (!existsSync(containerdSocket(folder))) throw new Error('it does not listen');
      ctr(folder, 'version');
      if (!readFileSync(join(folder, 'containerd.log'), 'utf8').includes(RECOVERED)) throw new Error('it still starts');
    },
    { complaint: 'containerd did not answer', timeoutMs: READY_MS, processes },
  );

function waitForReady({ client }: ControlPlane, processes: Iterable<Running>): Promise<void> {
  const ref = { group: '', version: 'v1', plural: 'nodes', name: nodeName };
  return eventually(
    async () => {
      const { status } = (await client.get(ref)) as { status?: V1NodeStatus };
      if (!hasCondition('Ready', status)) throw new Error(JSON.stringify(status?.conditions));
    },
    { complaint: 'the node was not ready', timeoutMs: READY_MS, processes },
  );
}

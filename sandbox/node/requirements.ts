import { existsSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';

/** The Debian packages of a node, with programs that show that a package is installed. */
const packages: Readonly<Record<string, readonly string[]>> = {
  containerd: ['containerd', 'ctr'],
  runc: ['runc'],
  'containernetworking-plugins': ['/usr/lib/cni/bridge'],
  nftables: ['nft'],
  iproute2: ['ip'],
  conntrack: ['conntrack'],
  'util-linux': ['unshare', 'nsenter'],
  e2fsprogs: ['mkfs.ext4'],
  mmdebstrap: ['mmdebstrap'],
  buildah: ['buildah'],
  'busybox-static': ['busybox'],
  gcc: ['gcc'],
  'python3-pip': ['pip3'],
};

export const debianPackages: readonly string[] = Object.keys(packages);

/** Returns why no node can run here and what to do, or undefined. */
export function whyNoNode(): string | undefined {
  if (process.platform !== 'linux')
    return `a node needs Linux, but this is ${process.platform}. Leave out --node to run only the control plane`;
  if (process.getuid?.() !== 0)
    return 'a node needs root for its namespaces, mounts and cgroups. Run it with sudo, or leave out --node';
  const missing = Object.entries(packages).filter(([, programs]) => !programs.every(isThere));
  if (missing.length > 0)
    return `a node needs programs that are not installed. On Debian and Ubuntu, run: apt-get install --no-install-recommends ${missing.map(([name]) => name).join(' ')}`;
  return undefined;
}

const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin'];

const isThere = (program: string): boolean => folders.some((folder) => existsSync(resolve(folder, program)));

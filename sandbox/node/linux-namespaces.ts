import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Reaper } from '../control-plane/reaper.ts';
import { goEnvironment, launch, type Launch, type Running } from '../control-plane/processes.ts';
import { run } from '../run.ts';
import { eventually } from '../testing/eventually.ts';
import type { Slot } from './addresses.ts';

export type LinuxNamespaces = Awaited<ReturnType<typeof openLinuxNamespaces>>;

const script = fileURLToPath(new URL('linux-namespaces.sh', import.meta.url));
const READY_MS = 10_000;

/** Returns the process that keeps the namespaces, by its id on this machine, and a function that starts programs in them. */
export async function openLinuxNamespaces(folder: string, slot: Slot, cgroups: readonly string[], reaper: Reaper) {
  const flags = ['--mount', '--pid', '--net', '--uts', '--ipc', '--fork', '--kill-child', '--mount-proc'];
  const first = ['--propagation', 'private', 'sh', script, folder, slot.nodeAddress, slot.serviceRange, ...cgroups];
  const name = 'linux-namespaces';
  const unshare = launch({ name, path: 'unshare', args: [...flags, ...first], folder, reaper });
  await until(() => getChildren(unshare.pid).length > 0, folder);
  const [pid = 0] = getChildren(unshare.pid);
  reaper.watch(pid);
  const ip = (...args: readonly string[]) => run('ip', args);
  ip('link', 'add', slot.link, 'type', 'veth', 'peer', 'name', 'node0', 'netns', String(pid));
  ip('addr', 'add', `${slot.hostAddress}/24`, 'dev', slot.link);
  ip('link', 'set', slot.link, 'up');
  for (const range of [slot.serviceRange, slot.podRange]) ip('route', 'add', range, 'via', slot.nodeAddress);
  await until(() => existsSync(join(folder, 'linux-namespaces.ready')), folder);
  return { pid, launch: (what: Launch) => launchIn(pid, what) };
}

/** `nsenter` waits for the program, which is its child. */
function launchIn(pid: number, what: Launch): Running {
  return launch({
    ...what,
    path: 'nsenter',
    args: ['--target', String(pid), '--mount', '--pid', '--net', '--uts', '--ipc', '--', what.path, ...what.args],
    environment: what.environment ?? {
      ...goEnvironment,
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    },
    graceMs: 5_000,
    findSignalled: (nsenter) => getChildren(nsenter)[0],
  });
}

function getChildren(pid: number): number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}

const until = (isDone: () => boolean, folder: string): Promise<void> =>
  eventually(
    () => {
      if (!isDone()) throw new Error(readFileSync(join(folder, 'linux-namespaces.log'), 'utf8').trim());
    },
    { complaint: "the node's namespaces were not made", timeoutMs: READY_MS, intervalMs: 10 },
  );

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../run.ts';
import { nodesFolder } from './addresses.ts';

const ROOT = '/sys/fs/cgroup';
const controllers = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'systemd'];

/** Returns true for cgroup v2, which has one hierarchy for all controllers. */
const isUnified = (): boolean => existsSync(join(ROOT, 'cgroup.controllers'));

const getCgroups = (name: string): readonly string[] =>
  isUnified()
    ? [join(ROOT, name)]
    : controllers.filter((controller) => existsSync(join(ROOT, controller))).map((each) => join(ROOT, each, name));

export function makeCgroups(name: string): readonly string[] {
  const cgroups = getCgroups(name);
  for (const folder of cgroups.flatMap((cgroup) => [cgroup, join(cgroup, 'system')])) {
    mkdirSync(folder, { recursive: true });
    if (folder.includes('/cpuset/')) fillCpuset(folder);
  }
  return cgroups;
}

/** A new cpuset is empty, and accepts no process until it has a value. */
function fillCpuset(folder: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    writeFileSync(join(folder, file), readFileSync(join(ROOT, 'cpuset', file)));
}

/** Returns shell commands that remove it, deepest first. runc creates one under `unified` as well. */
export const removeCgroups = (name: string): string =>
  `for root in ${ROOT} ${ROOT}/*; do [ ! -d "$root/${name}" ] || find "$root/${name}" -depth -type d -exec rmdir {} \\; 2>/dev/null; done`;

/** The kubelet changes these settings for the whole machine, because they belong to no namespace. */
const rewritten = ['kernel/panic', 'kernel/panic_on_oops', 'vm/overcommit_memory', 'vm/panic_on_oom'];

/** In the lock of each node. A reboot clears it. */
export const SYSCTLS = 'sysctls';

/** Returns shell commands: those of a node that is there already, because its kubelet has changed the machine's values. */
export function restoreSysctls(): string {
  const toCommand = (file: string) => `echo ${readFileSync(file, 'utf8').trim()} > ${file}\n`;
  const saved = run('sh', ['-c', `cat ${nodesFolder}/node-*/${SYSCTLS} 2>/dev/null | head -n ${rewritten.length}`]);
  return saved === '' ? rewritten.map((name) => toCommand(join('/proc/sys', name))).join('') : saved;
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
const rewritten = ['kernel.panic', 'kernel.panic_on_oops', 'vm.overcommit_memory', 'vm.panic_on_oom'];

const getFile = (name: string): string => `/proc/sys/${name.replaceAll('.', '/')}`;

export const restoreSysctls = (): string =>
  rewritten.map((name) => `echo ${readFileSync(getFile(name), 'utf8').trim()} > ${getFile(name)}`).join('\n');

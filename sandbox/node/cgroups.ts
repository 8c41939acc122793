import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';
const controllers = ['cpu', 'cpuacct', 'cpuset', 'memory', 'devices', 'freezer', 'blkio', 'pids', 'systemd'];

/** Whether this machine has one hierarchy for all controllers. */
const isUnified = (): boolean => existsSync(join(ROOT, 'cgroup.controllers'));

/** The folders of a node's cgroup: one in each hierarchy that there is. */
export const cgroupsOf = (name: string): readonly string[] =>
  isUnified()
    ? [join(ROOT, name)]
    : controllers.filter((controller) => existsSync(join(ROOT, controller))).map((each) => join(ROOT, each, name));

/** Makes a node's cgroup, with a part for the programs of the node itself. */
export function makeCgroups(name: string): readonly string[] {
  const cgroups = cgroupsOf(name);
  for (const folder of cgroups.flatMap((cgroup) => [cgroup, join(cgroup, 'system')])) {
    mkdirSync(folder, { recursive: true });
    if (folder.includes('/cpuset/')) fillCpuset(folder);
  }
  return cgroups;
}

/** A cpuset is born empty, and takes nobody in until it has something. */
function fillCpuset(folder: string): void {
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    writeFileSync(join(folder, file), readFileSync(join(ROOT, 'cpuset', file)));
}

/** A shell's words for removing it, deepest first; runc makes one under `unified` as well. */
export const removeCgroups = (name: string): string =>
  `for root in ${ROOT} ${ROOT}/*; do [ ! -d "$root/${name}" ] || find "$root/${name}" -depth -type d -exec rmdir {} \\; 2>/dev/null; done`;

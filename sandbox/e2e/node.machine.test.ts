import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nodesFolder } from '../node/addresses.ts';
import { eventually } from '../testing/eventually.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';
import { finished, runScript, startScript } from '../run.ts';

const folders = createTemporaryFolder();
const folder = (): string => join(mkdtempSync(join(folders, 'e2e-')), 'sandbox');

const sandbox = (...args: readonly string[]) => runScript('sandbox/sandbox.ts', args);

const sysctls = ['kernel/panic', 'kernel/panic_on_oops', 'vm/overcommit_memory', 'vm/panic_on_oom'];

const list = (path: string) => (existsSync(path) ? readdirSync(path).toSorted() : []);

const panic = '/proc/sys/kernel/panic';
const own = readFileSync(panic);
beforeAll(() => {
  const [other] = list(nodesFolder);
  if (other !== undefined)
    throw new Error(`a node runs here, or has crashed. Take it down, or delete ${join(nodesFolder, other)}`);
  // No kubelet writes this value, so it shows that a node restores the machine's own.
  writeFileSync(panic, '7');
});
afterAll(() => writeFileSync(panic, own));

function traces(dir: string) {
  const cgroups = list('/sys/fs/cgroup').flatMap((name) =>
    list(`/sys/fs/cgroup/${name}`).filter((each) => each.startsWith('lumigo')),
  );
  const processes = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.split('\n');
  return {
    disks: list('/sys/block').filter((name) => existsSync(`/sys/block/${name}/loop`)),
    links: list('/sys/class/net').filter((name) => name.startsWith('lumigo')),
    cgroups: [...cgroups, ...list('/sys/fs/cgroup').filter((name) => name.startsWith('lumigo'))],
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(dir)).length,
    tables: spawnSync('nft', ['list', 'tables'], { encoding: 'utf8', env: { PATH: '/usr/sbin:/usr/bin' } }).stdout,
    routes: readFileSync('/proc/net/route', 'utf8').split('\n').length,
    processes: processes.filter((line) => line.includes(dir) && !line.includes('jest')),
    sysctls: sysctls.map((name) => readFileSync(`/proc/sys/${name}`, 'utf8')),
    folder: existsSync(dir),
    locks: list(nodesFolder),
  };
}

describe('npm run sandbox -- up --node', () => {
  it('starts several side by side, and down leaves nothing of them', async () => {
    const dirs = [folder(), folder(), folder()];
    const [first = '', second = '', later = ''] = dirs;
    const before = dirs.map(traces);
    const start = (dir: string) => sandbox('up', '--node', '--bare', '--json', '--dir', dir);
    try {
      // When the last one starts, a kubelet has changed the machine's sysctls.
      const up = [...(await Promise.all([first, second].map(start))), await start(later)];
      expect(up.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '', '']);
      const servers = up.map(({ stdout }) => (JSON.parse(stdout) as { server: string; sink: string }).server);
      expect(new Set(servers).size).toBe(3);
      const statuses = await Promise.all(dirs.map((dir) => sandbox('status', '--dir', dir)));
      expect(statuses.map(({ code }) => code)).toEqual([0, 0, 0]);
    } finally {
      await Promise.all(dirs.map((dir) => sandbox('down', '--dir', dir)));
    }
    await eventually(() => expect(dirs.map(traces)).toEqual(before));
  });

  it('leaves nothing if its folder exists', async () => {
    const before = traces(folders);
    expect((await sandbox('up', '--node', '--dir', folders)).stderr).toContain('exists already');
    expect(traces(folders)).toEqual(before);
  });

  it('leaves nothing either if one is killed and one is interrupted halfway', async () => {
    const ends = { SIGKILL: folder(), SIGINT: folder() };
    const getTraces = () => Object.values(ends).map(traces);
    const before = getTraces();
    const endHalfway = async ([signal, dir]: [string, string]): Promise<void> => {
      const child = startScript('sandbox/sandbox.ts', ['up', '--node', '--dir', dir]);
      const ended = finished(child);
      await eventually(() => expect(existsSync(join(dir, 'kubelet.log'))).toBe(true), { timeoutMs: 60_000 });
      await sleep(1_500);
      child.kill(signal as NodeJS.Signals);
      await ended;
    };
    await Promise.all(Object.entries(ends).map(endHalfway));
    await eventually(() => expect(getTraces()).toEqual(before), { timeoutMs: 20_000 });
  });
});

import { describe, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../testing/eventually.ts';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';
import { finished, runScript, startScript } from '../run.ts';

const folders = createTemporaryFolder();
const folder = (): string => join(mkdtempSync(join(folders, 'e2e-')), 'sandbox');

const sandbox = (...args: readonly string[]) => runScript('sandbox/sandbox.ts', args);

const sysctls = ['kernel/panic', 'kernel/panic_on_oops', 'vm/overcommit_memory', 'vm/panic_on_oom'];

function traces(dir: string) {
  const list = (path: string) => (existsSync(path) ? readdirSync(path).toSorted() : []);
  const cgroups = list('/sys/fs/cgroup').flatMap((name) =>
    list(`/sys/fs/cgroup/${name}`).filter((each) => each.startsWith('lumigo')),
  );
  const processes = spawnSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).stdout.split('\n');
  return {
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
  };
}

describe('npm run sandbox -- up --node', () => {
  it('starts several side by side, and down leaves nothing of them', async () => {
    const first = folder();
    const second = folder();
    const before = [traces(first), traces(second)];
    const started = Date.now();
    const up = await Promise.all(
      [first, second].map((dir) => sandbox('up', '--node', '--bare', '--json', '--dir', dir)),
    );
    process.stderr.write(`      two nodes were up after ${((Date.now() - started) / 1_000).toFixed(1)} s\n`);
    try {
      expect(up.map(({ code, stderr }) => (code === 0 ? '' : stderr))).toEqual(['', '']);
      const servers = up.map(({ stdout }) => (JSON.parse(stdout) as { server: string; sink: string }).server);
      expect(new Set(servers).size).toBe(2);
      for (const dir of [first, second]) expect((await sandbox('status', '--dir', dir)).code).toBe(0);
    } finally {
      for (const dir of [first, second]) await sandbox('down', '--dir', dir);
    }
    await eventually(() => expect([traces(first), traces(second)]).toEqual(before));
  });

  it.each([
    ['killed', 'SIGKILL'],
    ['interrupted', 'SIGINT'],
  ] as const)('leaves nothing either if it is %s halfway', async (_case, signal) => {
    const dir = folder();
    const before = traces(dir);
    const child = startScript('sandbox/sandbox.ts', ['up', '--node', '--dir', dir]);
    const ended = finished(child);
    await eventually(() => expect(existsSync(join(dir, 'kubelet.log'))).toBe(true), { timeoutMs: 60_000 });
    await sleep(1_500);
    child.kill(signal);
    await ended;
    await eventually(() => expect(traces(dir)).toEqual(before), { timeoutMs: 20_000 });
  });
});

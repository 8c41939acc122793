import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createTemporaryFolder } from '../testing/temporary-folder.ts';
import { freePorts, launch } from './processes.ts';
import { startReaper } from './reaper.ts';

const folders = createTemporaryFolder();

const askFor = (ports: readonly number[]): string =>
  spawnSync(
    process.execPath,
    [
      '--import=tsx',
      '--input-type=module',
      '--eval',
      `import { freePorts } from './sandbox/control-plane/processes.ts';
       const chosen = ${JSON.stringify(ports)}.map((port) => (port - 10_100 + 0.5) / 21_900);
       const random = Math.random;
       Math.random = () => chosen.shift() ?? random();
       console.log(JSON.stringify(await freePorts(1)));`,
    ],
    { encoding: 'utf8' },
  ).stdout.trim();

it('ports are given to one process alone, also before it listens on them', async () => {
  const ports = await freePorts(2);
  const given = JSON.parse(askFor(ports)) as number[];
  expect(given).toHaveLength(1);
  expect(ports).not.toContain(given[0]);
});

it('the end of a program is reported, also if its folder was deleted before', async () => {
  const folder = join(folders, 'processes');
  mkdirSync(folder);
  const reaper = startReaper(join(folders, 'reaper'));
  const program = { name: 'shell', path: '/bin/sh', args: ['-c', 'sleep 1; exit 3'] };
  const { died } = launch({ ...program, folder, reaper });
  rmSync(folder, { recursive: true });
  expect(await died).toContain('shell ended (exit code 3)');
  await reaper.stop();
});

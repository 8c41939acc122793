import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, launch } from './processes.ts';
import { startReaper } from './reaper.ts';

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
  const folder = mkdtempSync(join(tmpdir(), 'processes-'));
  const reaper = startReaper(mkdtempSync(join(tmpdir(), 'reaper-')));
  const program = { name: 'shell', path: '/bin/sh', args: ['-c', 'sleep 1; exit 3'] };
  const { died } = launch({ ...program, folder, reaper });
  rmSync(folder, { recursive: true });
  expect(await died).toContain('shell ended (exit code 3)');
  await reaper.stop();
});

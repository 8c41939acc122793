import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { freePorts } from './processes.ts';

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

import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeChart } from './helm/chart.ts';
import { operatorVersion } from './version.ts';

/** `npm run chart`: writes the Helm chart to dist/chart/lumigo-operator, and beside it as the archive that repositories hold. */
const parent = 'dist/chart';
const folder = join(parent, 'lumigo-operator');
rmSync(folder, { recursive: true, force: true });
writeChart(folder);
const archive = join(parent, `lumigo-operator-${operatorVersion()}.tgz`);
const { status, stderr } = spawnSync(
  'tar',
  ['--create', '--gzip', '--file', archive, '-C', parent, 'lumigo-operator'],
  {
    encoding: 'utf8',
  },
);
if (status === 0) process.stdout.write(`${folder}\n${archive}\n`);
else process.stderr.write(`the chart cannot be packed: ${stderr}\n`);
process.exitCode = status === 0 ? 0 : 1;

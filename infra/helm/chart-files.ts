import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartName } from '../../runtime/contract.ts';
import { repositoryIndex } from './chart-texts.ts';
import { writeChart } from './chart.ts';
import { unpublishedNotice } from '../settings/publisher.ts';
import { parseSettings } from '../settings/settings.ts';
import { operatorVersion } from '../settings/version.ts';

/** `npm run chart [FOLDER]`: writes the Helm chart, its archive, and the index of a chart repository with it. Default: dist/chart. */
function main([parent = 'dist/chart']: readonly string[]): number {
  const folder = join(parent, chartName);
  rmSync(folder, { recursive: true, force: true });
  writeChart(folder);
  const archive = `${chartName}-${operatorVersion()}.tgz`;
  const path = join(parent, archive);
  const args = ['--create', '--gzip', '--file', path, '-C', parent, chartName];
  const { status, stderr } = spawnSync('tar', args, { encoding: 'utf8' });
  if (status !== 0) {
    process.stderr.write(`tar cannot pack the chart: ${stderr}\n`);
    return 1;
  }
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
  const index = join(parent, 'index.yaml');
  writeFileSync(index, repositoryIndex(archive, digest, new Date()));
  process.stdout.write([folder, path, index, ''].join('\n'));
  const notice = unpublishedNotice(parseSettings({}).controllerManager.manager.image);
  if (notice !== undefined) process.stderr.write(`${notice}\n`);
  return 0;
}

process.exitCode = main(process.argv.slice(2));

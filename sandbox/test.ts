import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { whyNoNode } from './node/requirements.ts';

/**
 * `npm test`: the tests of functions and those against an API server; those that measure under load, alone; then those on a real
 * node where one can run. What is passed on is Jest's; LUMIGO_TEST_RESULTS names a folder for its results as JSON.
 */

const [, , ...passedOn] = process.argv;
const results = process.env['LUMIGO_TEST_RESULTS'];

function jest(name: string, ...flags: readonly string[]): boolean {
  const json = results === undefined ? [] : ['--json', `--outputFile=${join(results, `${name}.json`)}`];
  const args = ['--experimental-vm-modules', '--no-warnings', 'node_modules/jest/bin/jest.js', ...flags, ...json];
  return spawnSync(process.execPath, [...args, ...passedOn], { stdio: 'inherit' }).status === 0;
}

const passed = jest('all', '--selectProjects', 'unit', 'cluster');
const passedUnderLoad = jest('load', '--selectProjects', 'load', '--runInBand');
const why = whyNoNode();
if (why !== undefined) process.stderr.write(`\nThe tests on a real node were left out: ${why}.\n`);
const passedOnNode = why !== undefined || jest('node', '--selectProjects', 'e2e', '--runInBand');
// What a node leaves behind on the machine shows only where there is no other, also when somebody runs those above side by side.
const passedAlone = why !== undefined || jest('machine', '--selectProjects', 'machine', '--runInBand');
process.exitCode = passed && passedUnderLoad && passedOnNode && passedAlone ? 0 : 1;

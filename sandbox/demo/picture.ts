import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { terminalPicture } from './terminal-picture.ts';

/** `npm run picture`: runs the demo without a node, and draws its output into docs/demo.svg. */
const command = ['--import', 'tsx', 'sandbox/demo/start.ts', '--once', '--no-node'];
const { status, stdout } = spawnSync(process.execPath, command, {
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'inherit'],
});
if (status === 0) {
  const lines = stdout.trim().split('\n');
  writeFileSync('docs/demo.svg', terminalPicture('The demo in a terminal', ['$ npm start -- --once', '', ...lines]));
} else {
  process.stderr.write(`the demo exited with ${status}, so docs/demo.svg is not changed\n`);
  process.exitCode = 1;
}

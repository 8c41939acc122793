import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { isRunning, readState } from '../state.ts';
import { summary } from './up.ts';

/** Says what of a sandbox runs, and whether its API server answers. */
export async function status({
  dir: given,
  json = false,
}: {
  readonly dir: string;
  readonly json?: boolean;
}): Promise<void> {
  const dir = resolve(given);
  const state = readState(dir);
  if (state === undefined)
    throw new Error(`there is no sandbox in ${dir}; 'npm run sandbox -- up' starts one (--dir names its folder)`);
  const processes = state.processes.map((each) => ({ ...each, running: isRunning(each) }));
  const ready = await isReady(state.server, readFileSync(join(dir, 'ca.crt'), 'utf8'), state.token);
  const well = ready && processes.every(({ running }) => running);
  if (json)
    process.stdout.write(
      `${JSON.stringify({ ...summary(state), ready: well, startedAt: state.startedAt, processes })}\n`,
    );
  else
    process.stdout.write(
      [
        `The sandbox in ${dir} was started ${state.startedAt}; its API server ${ready ? 'answers' : 'does not answer'} at ${state.server}.`,
        ...processes.map(
          ({ name, pid, running }) => `  ${name.padEnd(18)} ${String(pid).padEnd(8)} ${running ? 'runs' : 'is gone'}`,
        ),
        '',
      ].join('\n'),
    );
  process.exitCode = well ? 0 : 1;
}

function isReady(server: string, ca: string, token: string): Promise<boolean> {
  return new Promise((answer) => {
    const sent = request(
      `${server}/readyz`,
      { ca, timeout: 3_000, headers: { authorization: `Bearer ${token}` } },
      (response) => {
        response.resume();
        answer(response.statusCode === 200);
      },
    );
    sent.on('timeout', () => sent.destroy());
    sent.on('error', () => answer(false));
    sent.end();
  });
}

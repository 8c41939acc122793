import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { answerTo } from '../answer.ts';
import { isRunning, stateIn } from '../state.ts';
import { summary, type UpOptions } from './up.ts';

export async function status({ dir: given, json = false }: Pick<UpOptions, 'dir' | 'json'>): Promise<void> {
  const dir = resolve(given);
  const state = stateIn(dir);
  const processes = state.processes.map((each) => ({ ...each, running: isRunning(each) }));
  const ready = await isReady(state.server, readFileSync(join(dir, 'ca.crt'), 'utf8'), state.token);
  const well = ready && processes.every(({ running }) => running);
  const lines = json
    ? [JSON.stringify({ ...summary(state), ready: well, startedAt: state.startedAt, processes })]
    : [
        `The sandbox in ${dir} was started at ${state.startedAt}. Its API server ${ready ? 'answers' : 'does not answer'} at ${state.server}.`,
        ...processes.map(
          ({ name, pid, running }) => `  ${name.padEnd(18)} ${String(pid).padEnd(8)} ${running ? 'runs' : 'stopped'}`,
        ),
      ];
  process.stdout.write(`${lines.join('\n')}\n`);
  process.exitCode = well ? 0 : 1;
}

async function isReady(server: string, ca: string, token: string): Promise<boolean> {
  const sent = request(`${server}/readyz`, { ca, timeout: 3_000, headers: { authorization: `Bearer ${token}` } });
  sent.on('timeout', () => sent.destroy());
  const { status } = await answerTo(sent.end()).catch(() => ({ status: 0 }));
  return status === 200;
}

import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { connectTo } from '../control-plane/connect.ts';
import { isRunning, stateIn, type SandboxState } from '../state.ts';

export type StatusOptions = Readonly<{ dir: string; json?: boolean }>;

export async function status({ dir: given, json = false }: StatusOptions): Promise<void> {
  const dir = resolve(given);
  const state = stateIn(dir);
  const processes = state.processes.map((each) => ({ ...each, running: isRunning(each) }));
  const ready = await isReady({ ...state, ca: readFileSync(join(dir, 'ca.crt'), 'utf8') });
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

export function summary({ kubeconfig, server, token, kubectl, processes, sink }: SandboxState): object {
  const pids = Object.fromEntries(processes.map(({ name, pid }) => [name, pid]));
  return { sink, kubeconfig, server, token, kubectl, pids };
}

async function isReady(connection: Parameters<typeof connectTo>[0]): Promise<boolean> {
  const transport = connectTo(connection);
  const answer = transport.request({ method: 'GET', path: '/readyz', timeoutMs: 3_000 });
  const isAnswered = await answer.then(Boolean, () => false);
  transport.close();
  return isAnswered;
}

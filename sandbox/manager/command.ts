import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bundlePath } from '../../infra/bundle.ts';
import type { Installation } from './install.ts';
import { writeServiceAccount, type Cluster } from './service-account.ts';

export interface CommandResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one of the operator's commands (`--preview`, `--explain`, `--uninstall` …) as its own container would: same environment, same ServiceAccount. */
export async function runInContainer(
  cluster: Cluster,
  installation: Installation,
  args: readonly string[],
): Promise<CommandResult> {
  const account = join(cluster.dir, 'command', 'service-account');
  await writeServiceAccount(cluster, installation, account);
  const { hostname, port } = new URL(cluster.server);
  return runCommand(['--service-account', account, ...args], {
    ...installation.environment,
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    LUMIGO_POD_NAME: 'command',
  });
}

/** Runs the operator's program with an environment of its own. */
export function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<CommandResult> {
  const env = { PATH: process.env['PATH'], ...environment };
  const child = spawn(process.execPath, [bundlePath, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream].on('data', (chunk: Buffer) => (output[stream] += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, ...output })));
}

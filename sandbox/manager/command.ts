import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { bundlePath } from '../../infra/bundle.ts';
import { finished, type Finished } from '../testing/run.ts';
import { environmentOf } from './configuration.ts';
import type { Installation } from './install.ts';
import { writeServiceAccount, type Cluster } from './service-account.ts';

/** Runs one of the operator's commands (`preview`, `explain`, `uninstall` …) as its own container would: same configuration, same ServiceAccount. */
export async function runInContainer(
  cluster: Cluster,
  installation: Installation,
  args: readonly string[],
): Promise<Finished> {
  const account = join(cluster.dir, 'command', 'service-account');
  await writeServiceAccount(cluster, installation, account);
  const { hostname, port } = new URL(cluster.server);
  return runCommand(['--service-account', account, ...args], {
    KUBERNETES_SERVICE_HOST: hostname,
    KUBERNETES_SERVICE_PORT: port,
    ...environmentOf(installation.config, 'command'),
  });
}

/** Runs the operator's program with an environment of its own. */
export function runCommand(args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Finished> {
  const env = { PATH: process.env['PATH'], ...environment };
  return finished(spawn(process.execPath, [bundlePath, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] }));
}

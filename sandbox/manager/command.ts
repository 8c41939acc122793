import { join } from 'node:path';
import { bundlePath } from '../../infra/release/bundle.ts';
import { suffixes } from '../../runtime/contract.ts';
import { runToEnd, type Finished } from '../run.ts';
import { getEnvironment } from './configuration.ts';
import type { Installation } from './install.ts';
import { getAddressVariables, writeServiceAccount, type Cluster } from './service-account.ts';

/** Runs a command of the operator (`preview`, `explain`, `uninstall` …) with the configuration and ServiceAccount of its container. Default: the manager's account. */
export async function runInContainer(
  cluster: Cluster,
  installation: Installation,
  args: readonly string[],
  suffix: string = suffixes.manager,
): Promise<Finished> {
  const account = join(cluster.dir, 'command', `service-account${suffix}`);
  await writeServiceAccount(cluster, installation, account, suffix);
  const environment = { ...getAddressVariables(cluster), ...getEnvironment(installation.config, 'command') };
  return runCommand(['--service-account', account, ...args], environment);
}

export const runCommand = (args: readonly string[], environment: NodeJS.ProcessEnv): Promise<Finished> =>
  runToEnd(process.execPath, [bundlePath, ...args], { env: { PATH: process.env['PATH'], ...environment } });

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mounts } from '../../contract.ts';
import { inCluster, type Connection } from './credentials.ts';

export interface ConnectOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly serviceAccount?: string;
}

/** Default, as with kubectl: KUBECONFIG, ~/.kube/config if it exists, and then a pod's ServiceAccount. Throws a ConfigError. */
export async function connect(options: ConnectOptions, environment: NodeJS.ProcessEnv): Promise<Connection> {
  const { kubeconfig: path, context, serviceAccount } = options;
  const asUser = path !== undefined || context !== undefined;
  const { KUBECONFIG: listed = '', KUBERNETES_SERVICE_HOST: host } = environment;
  const usual = getUsualFile(environment);
  const inPod = serviceAccount !== undefined || (listed === '' && host !== undefined && !existsSync(usual));
  if (!asUser && inPod) return inCluster({ directory: serviceAccount ?? mounts.serviceAccount, env: environment });
  // Only here, because it loads libraries that take 60 MB of memory (docs/contributing/adr/0003).
  const { fromKubeconfig } = await import('./kubeconfig.ts');
  return fromKubeconfig({ path, listed: listed || usual, context });
}

const getUsualFile = ({ HOME, USERPROFILE = '' }: NodeJS.ProcessEnv): string =>
  join(HOME ?? USERPROFILE, '.kube', 'config');

import { mounts } from '../../contract.ts';
import { inCluster, type Connection } from './credentials.ts';
import { fromKubeconfig } from './kubeconfig.ts';

export interface ConnectOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly serviceAccount?: string;
}

/** Default: the pod's ServiceAccount in a cluster, the user's kubeconfig elsewhere. Throws a ConfigError. */
export function connect(options: ConnectOptions, environment: NodeJS.ProcessEnv): Promise<Connection> {
  const { kubeconfig: path, context, serviceAccount } = options;
  const asUser = path !== undefined || context !== undefined;
  const inPod = environment['KUBERNETES_SERVICE_HOST'] !== undefined || serviceAccount !== undefined;
  if (asUser || !inPod) return fromKubeconfig({ path, context });
  return inCluster({ directory: serviceAccount ?? mounts.serviceAccount, env: environment });
}

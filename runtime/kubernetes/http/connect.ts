import { mounts } from '../../contract.ts';
import { inCluster, type Connection } from './credentials.ts';
import { fromKubeconfig } from './kubeconfig.ts';

export interface ConnectOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly serviceAccount?: string;
}

/**
 * Whom to talk to, and as whom: as the flags say; without any, as the pod's ServiceAccount in a cluster and by the
 * user's kubeconfig elsewhere.
 * @throws ConfigError with what is missing and what to pass.
 */
export function connect(options: ConnectOptions, environment: NodeJS.ProcessEnv): Promise<Connection> {
  const { kubeconfig: path, context, serviceAccount } = options;
  const asUser = path !== undefined || context !== undefined;
  const inPod = environment['KUBERNETES_SERVICE_HOST'] !== undefined || serviceAccount !== undefined;
  if (asUser || !inPod) return fromKubeconfig({ path, context });
  return inCluster({ directory: serviceAccount ?? mounts.serviceAccount, env: environment });
}

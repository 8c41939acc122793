import { mounts } from '../../contract.ts';
import { inCluster, type Connection } from './credentials.ts';
import { fromKubeconfig } from './kubeconfig.ts';

export interface ConnectOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly serviceAccount?: string;
}

/** Default: a kubeconfig that KUBECONFIG names, the pod's ServiceAccount in a cluster, ~/.kube/config. Throws a ConfigError. */
export function connect(options: ConnectOptions, environment: NodeJS.ProcessEnv): Promise<Connection> {
  const { kubeconfig: path, context, serviceAccount } = options;
  const asUser = path !== undefined || context !== undefined;
  const { KUBECONFIG: listed = '', KUBERNETES_SERVICE_HOST: host } = environment;
  const inPod = serviceAccount !== undefined || (listed === '' && host !== undefined);
  if (asUser || !inPod) return fromKubeconfig({ path, listed, context });
  return inCluster({ directory: serviceAccount ?? mounts.serviceAccount, env: environment });
}

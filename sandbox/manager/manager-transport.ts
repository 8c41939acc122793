import { createTransport, type Transport } from '../../runtime/kubernetes/http/transport.ts';
import { inCluster } from '../../runtime/kubernetes/http/credentials.ts';
import type { Installation } from './install.ts';
import { writeServiceAccount, type Cluster } from './service-account.ts';

/** To a cluster, as the manager's own account; to be closed. */
export async function managerTransport(cluster: Cluster, installation: Installation): Promise<Transport> {
  const directory = `${cluster.dir}/manager-account`;
  await writeServiceAccount(cluster, installation, directory);
  const { hostname, port } = new URL(cluster.server);
  const env = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port };
  return createTransport(await inCluster({ directory, env }), { userAgent: 'test' });
}

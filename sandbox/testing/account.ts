import { createClient } from '../../runtime/kubernetes/http/client.ts';
import { connectTo } from '../control-plane/connect.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { apply } from '../manager/apply.ts';
import { tokenFor } from '../manager/service-account.ts';

export type Account = Awaited<ReturnType<typeof accountIn>>;

const rbac = 'rbac.authorization.k8s.io';

/** Creates a ServiceAccount with one of Kubernetes' roles in its namespace. Returns a client with its rights. */
export async function accountIn(cluster: ControlPlane, namespace: string, role: string) {
  const name = `the-${role}`;
  await apply(cluster.client, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
  await apply(cluster.client, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  } as Parameters<typeof apply>[1]);
  const token = await tokenFor(cluster.client, { namespace, name });
  const transport = connectTo({ ...cluster, token }, { userAgent: name });
  return { name, token, client: createClient(transport), close: () => transport.close() };
}

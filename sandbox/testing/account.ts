import { createClient, type Client } from '../../runtime/kubernetes/http/client.ts';
import { createTransport } from '../../runtime/kubernetes/http/transport.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { apply } from '../manager/apply.ts';

export interface Account {
  readonly token: string;
  readonly client: Client;
  readonly close: () => void;
}

const rbac = 'rbac.authorization.k8s.io';
const core = { group: '', version: 'v1' };

/** Makes a ServiceAccount with one of Kubernetes' own roles in its namespace, and returns a client with its rights. */
export async function accountIn(cluster: ControlPlane, namespace: string, role: string): Promise<Account> {
  const name = `the-${role}`;
  await apply(cluster.client, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } });
  await apply(cluster.client, {
    apiVersion: `${rbac}/v1`,
    kind: 'RoleBinding',
    metadata: { name, namespace },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: role },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  } as Parameters<typeof apply>[1]);
  const ref = { ...core, plural: 'serviceaccounts', namespace, name, subresource: 'token' };
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', metadata: {}, spec: {} };
  const { object } = await cluster.client.create(ref, body);
  const { token } = object['status'] as { token: string };
  const authorization = () => Promise.resolve(`Bearer ${token}`);
  const connection = { server: new URL(cluster.server), ca: cluster.ca, authorization };
  const transport = createTransport(connection, { userAgent: name });
  return { token, client: createClient(transport), close: () => transport.close() };
}

import type { Client, KubernetesObject } from '../kubernetes/http/client.ts';

const slice = {
  group: 'discovery.k8s.io',
  version: 'v1',
  plural: 'endpointslices',
  namespace: 'default',
  name: 'kubernetes',
};
/** More than a control plane has; those beyond are not asked. */
const MOST = 9;

interface EndpointSlice extends KubernetesObject {
  readonly endpoints?: readonly { readonly addresses?: readonly string[] }[];
  readonly ports?: readonly { readonly port?: number }[];
}

/**
 * Where the API servers of the cluster are themselves, behind the Service `kubernetes`: `10.0.0.1:6443`, in an order that stays. None
 * where they do not say. A managed control plane may name one address for all of them.
 */
export async function apiServers(client: Client): Promise<readonly string[]> {
  const found = (await client.get(slice).catch(() => undefined)) as EndpointSlice | undefined;
  const { endpoints = [], ports = [] } = found ?? {};
  const port = ports[0]?.port ?? 443;
  const addresses = endpoints.flatMap((endpoint) => endpoint.addresses ?? []).toSorted();
  return addresses.slice(0, MOST).map((address) => `${address.includes(':') ? `[${address}]` : address}:${port}`);
}

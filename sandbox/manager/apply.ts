import type { Client } from '../../runtime/kubernetes/client.ts';
import type { KubernetesObject } from '../../runtime/kubernetes/objects.ts';
import type { Metadata } from '../../runtime/injection/types.ts';

interface Applied {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
}

const irregular: Readonly<Record<string, string>> = {
  Lumigo: 'lumigoes',
  PriorityClass: 'priorityclasses',
  NetworkPolicy: 'networkpolicies',
  Ingress: 'ingresses',
};

/** Where objects of a kind stand in the API. */
export function collectionOf({ apiVersion, kind, metadata }: Applied) {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { group, version, plural: irregular[kind] ?? `${kind.toLowerCase()}s`, namespace: metadata.namespace };
}

export const refOf = (object: Applied) => ({ ...collectionOf(object), name: object.metadata.name });

/** Server-side apply with strict validation, as a GitOps tool does it: a field that the API does not know is an error. */
export async function apply(client: Client, manifest: Applied, fieldManager = 'sandbox'): Promise<KubernetesObject> {
  const options = { fieldManager, fieldValidation: 'Strict' } as const;
  return (await client.patch(refOf(manifest), { kind: 'apply', body: manifest, force: true }, options)).object;
}

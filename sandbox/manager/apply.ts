import { getGroupVersion, toPlural } from '../../infra/settings/plurals.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import type { KubernetesObject, Manifest } from '../../runtime/kubernetes/resources/objects.ts';

type Applied = Pick<Manifest, 'apiVersion' | 'kind' | 'metadata'>;

export const getCollection = ({ apiVersion, kind, metadata }: Applied) => ({
  ...getGroupVersion(apiVersion),
  plural: toPlural(kind),
  namespace: metadata.namespace,
});

export const toRef = (object: Applied) => ({ ...getCollection(object), name: object.metadata.name });

/** Applies server-side with strict validation, as a GitOps tool does: an unknown field is an error. */
export async function apply(client: Client, manifest: Applied, fieldManager = 'sandbox'): Promise<KubernetesObject> {
  const options = { fieldManager, fieldValidation: 'Strict' } as const;
  return (await client.patch(toRef(manifest), { kind: 'apply', body: manifest, force: true }, options)).object;
}

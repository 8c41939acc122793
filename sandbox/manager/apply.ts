import { groupVersionOf, pluralOf } from '../../infra/settings/plurals.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import type { KubernetesObject, Manifest } from '../../runtime/kubernetes/resources/objects.ts';

type Applied = Pick<Manifest, 'apiVersion' | 'kind' | 'metadata'>;

export const collectionOf = ({ apiVersion, kind, metadata }: Applied) => ({
  ...groupVersionOf(apiVersion),
  plural: pluralOf(kind),
  namespace: metadata.namespace,
});

export const refOf = (object: Applied) => ({ ...collectionOf(object), name: object.metadata.name });

/** Applies server-side with strict validation, as a GitOps tool does: an unknown field is an error. */
export async function apply(client: Client, manifest: Applied, fieldManager = 'sandbox'): Promise<KubernetesObject> {
  const options = { fieldManager, fieldValidation: 'Strict' } as const;
  return (await client.patch(refOf(manifest), { kind: 'apply', body: manifest, force: true }, options)).object;
}

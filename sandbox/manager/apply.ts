import type { V1CustomResourceDefinitionSpec } from '@kubernetes/client-node';
import { getGroupVersion, toPlural } from '../../infra/settings/plurals.ts';
import type { Client } from '../../runtime/kubernetes/http/client.ts';
import type { KubernetesObject, Manifest } from '../../runtime/kubernetes/resources/objects.ts';
import { eventually } from '../testing/eventually.ts';

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

/** Applies the definition of a resource. Resolves when the API server serves the resource, which is a moment later. */
export async function applyDefinition(client: Client, definition: Manifest): Promise<void> {
  await apply(client, definition);
  const { group, names, versions } = definition['spec'] as V1CustomResourceDefinitionSpec;
  for (const { name: version } of versions.filter(({ served }) => served))
    await eventually(() => client.pages({ group, version, plural: names.plural }).next());
}

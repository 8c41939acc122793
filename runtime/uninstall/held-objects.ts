import { suffixes } from '../contract.ts';
import type { Metadata } from '../injection/types.ts';
import { guarded, type Client } from '../kubernetes/client.ts';
import { isConflict, isNotFound } from '../kubernetes/errors.ts';

/** The operator as it is installed: its objects' names derive from these. */
export interface Installed {
  readonly operatorName: string;
  readonly operatorNamespace: string;
}

export const leaseOf = ({ operatorName, operatorNamespace }: Installed) => ({
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.lease}`,
});

/** What lets the manager act: without these it cannot clean up. */
export const rightsOf = ({ operatorName }: Installed) => {
  const rbac = { group: 'rbac.authorization.k8s.io', version: 'v1', name: `${operatorName}${suffixes.managerRole}` };
  return [
    { ...rbac, plural: 'clusterroles', kind: 'ClusterRole' },
    { ...rbac, plural: 'clusterrolebindings', kind: 'ClusterRoleBinding' },
  ];
};

/** Who the manager is. */
export const accountOf = ({ operatorName, operatorNamespace }: Installed) => ({
  ...{ group: '', version: 'v1', plural: 'serviceaccounts', kind: 'ServiceAccount' },
  namespace: operatorNamespace,
  name: `${operatorName}${suffixes.manager}`,
});

/** All that is held, the account last. */
export const heldObjects = (installed: Installed) => [...rightsOf(installed), accountOf(installed)];

export type HeldObject = ReturnType<typeof heldObjects>[number];

/** Undefined where it is not there. */
export async function readHeld(client: Client, ref: HeldObject): Promise<Metadata | undefined> {
  try {
    return (await client.get(ref, { metadataOnly: true })).metadata;
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

const ATTEMPTS = 5;

/** Writes what `wanted` makes of the finalizers, if that is anything else; one that is gone meanwhile is no problem. */
export async function changeFinalizers(
  client: Client,
  ref: HeldObject,
  first: Metadata,
  wanted: (present: readonly string[]) => readonly string[],
): Promise<void> {
  let found: Metadata | undefined = first;
  for (let attempt = 1; found !== undefined; attempt += 1) {
    const { finalizers = [], resourceVersion = '' }: Metadata = found;
    const value = wanted(finalizers);
    if (value.join() === finalizers.join()) return;
    try {
      const patch = guarded(resourceVersion, [{ op: 'add', path: '/metadata/finalizers', value }]);
      await client.patch(ref, patch, { metadataOnly: true });
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      found = await readHeld(client, ref);
    }
  }
}

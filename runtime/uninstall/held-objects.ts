import { suffixes } from '../contract.ts';

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

import { k8s } from 'cdk8s-plus-28';
import type { Construct } from 'constructs';
import type { PolicyRule } from '../../runtime/access/permissions.ts';
import type { Installation } from './labels.ts';
import type { Manifest } from './manifest.ts';

/** Returns rules as the typed constructs need them: with mutable lists, and with the names of this installation. */
export const policyRules = (granted: readonly PolicyRule[], { name, namespace }: Installation): k8s.PolicyRule[] =>
  granted.map(({ apiGroups, resources, verbs, resourceNames }) => ({
    apiGroups: [...apiGroups],
    resources: [...resources],
    verbs: [...verbs],
    ...(resourceNames === undefined
      ? {}
      : { resourceNames: resourceNames.map((each) => each.replace('NAME', name).replace('{namespace}', namespace)) }),
  }));

interface Grant {
  /** The metadata of the role and of its binding. Without a namespace, the rights are those of the whole cluster. */
  readonly metadata: Manifest['metadata'];
  readonly granted: readonly PolicyRule[];
  /** The name of a ServiceAccount of the installation. */
  readonly account: string;
}

/** Adds a role, and the binding that gives it to an account. */
export function grant(scope: Construct, installation: Installation, { metadata, granted, account }: Grant): void {
  const { name, namespace } = metadata;
  const kind = namespace === undefined ? 'ClusterRole' : 'Role';
  const [Role, Binding] =
    kind === 'Role' ? [k8s.KubeRole, k8s.KubeRoleBinding] : [k8s.KubeClusterRole, k8s.KubeClusterRoleBinding];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind, name };
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace: installation.namespace }];
  new Role(scope, `${kind}-${name}`, { metadata, rules: policyRules(granted, installation) });
  new Binding(scope, `${kind}-${name}-binding`, { metadata, roleRef, subjects });
}

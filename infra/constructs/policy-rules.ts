import type { k8s } from 'cdk8s-plus-28';
import type { PolicyRule } from '../../runtime/access/permissions.ts';

/** Returns rules as the typed constructs need them: with mutable lists, and with the names of this installation. */
export const policyRules = (granted: readonly PolicyRule[], named = (name: string) => name): k8s.PolicyRule[] =>
  granted.map(({ apiGroups, resources, verbs, resourceNames }) => ({
    apiGroups: [...apiGroups],
    resources: [...resources],
    verbs: [...verbs],
    ...(resourceNames === undefined ? {} : { resourceNames: resourceNames.map(named) }),
  }));

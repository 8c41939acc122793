import type { k8s } from 'cdk8s-plus-28';
import type { PolicyRule } from '../../runtime/access/permissions.ts';

/** Rules in the form of the typed constructs, whose lists may be changed; names of resources as this installation has them. */
export const policyRules = (granted: readonly PolicyRule[], named = (name: string) => name): k8s.PolicyRule[] =>
  granted.map(({ apiGroups, resources, verbs, resourceNames }) => ({
    apiGroups: [...apiGroups],
    resources: [...resources],
    verbs: [...verbs],
    ...(resourceNames === undefined ? {} : { resourceNames: resourceNames.map(named) }),
  }));

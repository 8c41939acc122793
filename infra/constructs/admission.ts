import { ApiObject } from 'cdk8s';
import type { Construct } from 'constructs';
import { workloads, type WorkloadKind } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import type { Cel } from './cel.ts';

export const apiVersion = 'admissionregistration.k8s.io/v1';

export const namespaceName = 'kubernetes.io/metadata.name';

/** Selects every namespace except the excluded ones and the operator's own. */
export const includedNamespaces = ({ webhook, namespace }: Pick<Settings, 'webhook' | 'namespace'>) => ({
  matchExpressions: [webhook.excludedNamespaces, [namespace]].map((values) => ({
    key: namespaceName,
    operator: 'NotIn',
    values,
  })),
});

/** Returns the rule for the objects of one kind that are in a namespace. */
export const namespacedRule = (
  { group, version, plural }: Pick<WorkloadKind, 'group' | 'version' | 'plural'>,
  operations: readonly string[],
) => ({ apiGroups: [group], apiVersions: [version], resources: [plural], operations, scope: 'Namespaced' });

export function workloadRules<T extends string>(operations: readonly T[]) {
  const groups = [...new Set(workloads.map(({ group }) => group))];
  return groups.map((group) => {
    const kinds = workloads.filter((workload) => workload.group === group);
    return {
      apiGroups: [group],
      apiVersions: [...new Set(kinds.map(({ version }) => version))],
      resources: kinds.map(({ plural }) => plural),
      operations,
    };
  });
}

/** CEL expressions by name. A variable may use those before it as `variables.NAME`. */
export type Expressions = Readonly<Record<string, Cel>>;

interface AdmissionPolicy {
  readonly kind: 'ValidatingAdmissionPolicy' | 'MutatingAdmissionPolicy';
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> };
  readonly conditions: Expressions;
  readonly variables: Expressions;
  readonly spec: Readonly<Record<string, unknown>>;
  readonly binding: Readonly<Record<string, unknown>>;
}

export const named = (expressions: Expressions) =>
  Object.entries(expressions).map(([name, expression]) => ({ name, expression }));

export function addPolicy(
  scope: Construct,
  { kind, metadata, conditions, variables, spec, binding }: AdmissionPolicy,
): void {
  new ApiObject(scope, `${metadata.name}-policy`, {
    apiVersion,
    kind,
    metadata,
    spec: { matchConditions: named(conditions), variables: named(variables), ...spec },
  });
  new ApiObject(scope, `${metadata.name}-binding`, {
    apiVersion,
    kind: `${kind}Binding`,
    metadata,
    spec: { policyName: metadata.name, ...binding },
  });
}

import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import { permissions, type PolicyRule } from '../../runtime/access/permissions.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, type Installation } from './labels.ts';
import { policyRules } from './policy-rules.ts';

export const operatorUser = ({ name, namespace }: Installation): string =>
  `system:serviceaccount:${namespace}:${name}${suffixes.manager}`;

export type AccessProps = Installation & Pick<Settings, 'metrics' | 'monitoredNamespaces' | 'injection' | 'telemetry'>;

const rules = (granted: readonly PolicyRule[], { name, namespace }: Installation): k8s.PolicyRule[] =>
  policyRules(granted, (each) => each.replace('NAME', name).replace('{namespace}', namespace));

/** The roles in the whole cluster, each with the account that has it. */
const clusterRoles = ({ metrics, monitoredNamespaces, injection, telemetry }: AccessProps) =>
  [
    [true, 'cluster-role', suffixes.managerRole, permissions.cluster, suffixes.manager],
    [true, 'telemetry-proxy-role', suffixes.telemetryProxyRole, permissions.telemetryProxy, suffixes.telemetryProxy],
    [
      telemetry.namespaceLabels.length > 0,
      'namespace-labels-role',
      suffixes.namespaceLabelsRole,
      permissions.namespaceLabels,
      suffixes.telemetryProxy,
    ],
    [metrics.secure, 'metrics-role', suffixes.metricsRole, permissions.metrics, suffixes.manager],
    [
      monitoredNamespaces.length > 0,
      'monitoring-role',
      suffixes.monitoringRole,
      permissions.monitoring,
      suffixes.manager,
    ],
    [injection.podMode, 'pod-mode-role', suffixes.podPolicy, permissions.podMode, suffixes.manager],
  ] as const;

/** The account and the roles of the operator, which grant what `runtime/access/permissions.ts` lists and nothing more. */
export class Access extends Construct {
  readonly serviceAccountName: string;

  constructor(scope: Construct, id: string, props: AccessProps) {
    super(scope, id);
    const { name, namespace } = props;
    this.serviceAccountName = `${name}${suffixes.manager}`;
    const common = labels(props, 'rbac');
    const subjects = (account: string) => [{ kind: 'ServiceAccount', name: `${name}${account}`, namespace }];
    const reference = (kind: string, role: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: role });

    // The manager and the telemetry proxy have separate accounts. A token is mounted only into containers that ask for it.
    for (const [id, suffix] of [
      ['account', suffixes.manager],
      ['telemetry-proxy-account', suffixes.telemetryProxy],
    ] as const)
      new k8s.KubeServiceAccount(this, id, {
        metadata: { name: `${name}${suffix}`, namespace, labels: common },
        automountServiceAccountToken: false,
      });

    for (const [isNeeded, id, suffix, granted, account] of clusterRoles(props)) {
      if (!isNeeded) continue;
      const clusterRole = `${name}${suffix}`;
      new k8s.KubeClusterRole(this, id, {
        metadata: { name: clusterRole, labels: common },
        rules: rules(granted, props),
      });
      new k8s.KubeClusterRoleBinding(this, `${id}-binding`, {
        metadata: { name: clusterRole, labels: common },
        roleRef: reference('ClusterRole', clusterRole),
        subjects: subjects(account),
      });
    }

    const ownRoles = [
      ['', suffixes.leaderElectionRole, permissions.ownNamespace],
      ...(props.monitoredNamespaces.length > 0
        ? [['marks-', suffixes.monitoringRole, permissions.monitoringMarks] as const]
        : []),
    ] as const;
    for (const [id, suffix, granted] of ownRoles) {
      const role = `${name}${suffix}`;
      new k8s.KubeRole(this, `${id}role`, {
        metadata: { name: role, namespace, labels: common },
        rules: rules(granted, props),
      });
      new k8s.KubeRoleBinding(this, `${id}role-binding`, {
        metadata: { name: role, namespace, labels: common },
        roleRef: reference('Role', role),
        subjects: subjects(suffixes.manager),
      });
    }
  }
}

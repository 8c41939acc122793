import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import { permissions, type PolicyRule } from '../../runtime/access/permissions.ts';
import type { Settings } from '../settings/schema.ts';
import { labels, type Installation } from './labels.ts';
import { grant } from './rights.ts';

export const operatorUser = ({ name, namespace }: Installation): string =>
  `system:serviceaccount:${namespace}:${name}${suffixes.manager}`;

export type AccessProps = Installation & Pick<Settings, 'metrics' | 'monitoredNamespaces' | 'injection' | 'telemetry'>;

/** The account and the roles of the operator, which grant what `runtime/access/permissions.ts` lists and nothing more. */
export class Access extends Construct {
  readonly serviceAccountName: string;

  constructor(scope: Construct, id: string, props: AccessProps) {
    super(scope, id);
    const { name, namespace } = props;
    const manager = `${name}${suffixes.manager}`;
    const telemetryProxy = `${name}${suffixes.telemetryProxy}`;
    this.serviceAccountName = manager;
    const common = labels(props, 'rbac');
    const add = (suffix: string, granted: readonly PolicyRule[], account: string, within: object = {}) =>
      grant(this, props, { metadata: { name: `${name}${suffix}`, labels: common, ...within }, granted, account });

    // The manager and the telemetry proxy have separate accounts. A token is mounted only into containers that ask for it.
    for (const account of [manager, telemetryProxy])
      new k8s.KubeServiceAccount(this, `account-${account}`, {
        metadata: { name: account, namespace, labels: common },
        automountServiceAccountToken: false,
      });
    const isMonitoring = props.monitoredNamespaces.length > 0;
    add(suffixes.managerRole, permissions.cluster, manager);
    add(suffixes.telemetryProxyRole, permissions.telemetryProxy, telemetryProxy);
    if (props.telemetry.namespaceLabels.length > 0)
      add(suffixes.namespaceLabelsRole, permissions.namespaceLabels, telemetryProxy);
    if (props.metrics.secure) add(suffixes.metricsRole, permissions.metrics, manager);
    if (isMonitoring) add(suffixes.monitoringRole, permissions.monitoring, manager);
    if (props.injection.podMode) add(suffixes.podPolicy, permissions.podMode, manager);
    add(suffixes.leaderElectionRole, permissions.ownNamespace, manager, { namespace });
    if (isMonitoring) add(suffixes.monitoringRole, permissions.monitoringMarks, manager, { namespace });
  }
}

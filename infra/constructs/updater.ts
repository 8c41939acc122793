import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Manifest } from './manifest.ts';
import type { Settings } from '../settings/schema.ts';
import { mayUpgrade } from '../settings/updater-state.ts';
import { labels } from './labels.ts';
import { policyRules } from './policy-rules.ts';
import { UpdaterJob } from './updater-job.ts';
import { checkRules, updaterRules } from './updater-rules.ts';

export interface UpdaterProps {
  readonly settings: Settings;
  /** The other objects of the release. The rights of an upgrade depend on them. */
  readonly release: () => readonly Manifest[];
}

const rbac = 'rbac.authorization.k8s.io';

/** The CronJob that reports newer versions, and upgrades the Helm release if the settings allow it. */
export class Updater extends Construct {
  constructor(scope: Construct, id: string, { settings, release }: UpdaterProps) {
    super(scope, id);
    const { namespace } = settings;
    const name = `${settings.name}${suffixes.updater}`;
    const metadata = { name, labels: labels(settings, 'updater') };
    const inNamespace = { ...metadata, namespace };
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    const upgrading = mayUpgrade(settings.updater) ? rulesOfUpgrade(settings, release()) : undefined;

    new k8s.KubeServiceAccount(this, 'account', { metadata: inNamespace, automountServiceAccountToken: false });
    new k8s.KubeRole(this, 'role', {
      metadata: inNamespace,
      rules: policyRules(upgrading?.own ?? checkRules(settings.name)),
    });
    new k8s.KubeRoleBinding(this, 'role-binding', {
      metadata: inNamespace,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects,
    });
    if (upgrading !== undefined) {
      new k8s.KubeClusterRole(this, 'cluster-role', { metadata, rules: policyRules(upgrading.cluster) });
      new k8s.KubeClusterRoleBinding(this, 'cluster-role-binding', {
        metadata,
        roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
        subjects,
      });
    }
    new UpdaterJob(this, 'job', { settings, metadata: inNamespace });
  }
}

export const rulesOfUpgrade = ({ name, namespace }: Settings, release: readonly Manifest[]) =>
  updaterRules([...release, ...own(`${name}${suffixes.updater}`, namespace)], namespace);

/** An upgrade also changes the updater's objects. */
const own = (name: string, namespace: string): Manifest[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name, namespace } },
  { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name, namespace } },
  { apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name, namespace } },
  { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name } },
  { apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name } },
];

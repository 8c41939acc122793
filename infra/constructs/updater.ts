import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import type { Manifest } from './manifest.ts';
import type { Settings } from '../settings/schema.ts';
import { mayUpgrade } from '../settings/updater-state.ts';
import { labels } from './labels.ts';
import { grant } from './rights.ts';
import { UpdaterJob } from './updater-job.ts';
import { checkRules, updaterRules } from './updater-rules.ts';

const rbac = 'rbac.authorization.k8s.io/v1';

/** The CronJob that reports newer versions, and upgrades the Helm release if the settings allow it. */
export class Updater extends Construct {
  /** @param release the other objects of the release, on which the rights of an upgrade depend */
  constructor(scope: Construct, id: string, settings: Settings, release: () => readonly Manifest[]) {
    super(scope, id);
    const name = `${settings.name}${suffixes.updater}`;
    const metadata = { name, labels: labels(settings, 'updater') };
    const inNamespace = { ...metadata, namespace: settings.namespace };
    const upgrading = mayUpgrade(settings.updater) ? rulesOfUpgrade(settings, release()) : undefined;

    new k8s.KubeServiceAccount(this, 'account', { metadata: inNamespace, automountServiceAccountToken: false });
    grant(this, settings, {
      metadata: inNamespace,
      granted: upgrading?.own ?? checkRules(settings.name),
      account: name,
    });
    if (upgrading !== undefined) grant(this, settings, { metadata, granted: upgrading.cluster, account: name });
    new UpdaterJob(this, 'job', settings, inNamespace);
  }
}

export const rulesOfUpgrade = ({ name, namespace }: Settings, release: readonly Manifest[]) =>
  updaterRules([...release, ...own(`${name}${suffixes.updater}`, namespace)], namespace);

/** An upgrade also changes the updater's objects. */
const own = (name: string, namespace: string): Manifest[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name, namespace } },
  { apiVersion: rbac, kind: 'Role', metadata: { name, namespace } },
  { apiVersion: rbac, kind: 'RoleBinding', metadata: { name, namespace } },
  { apiVersion: rbac, kind: 'ClusterRole', metadata: { name } },
  { apiVersion: rbac, kind: 'ClusterRoleBinding', metadata: { name } },
];

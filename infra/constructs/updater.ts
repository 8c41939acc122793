import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { updaterKinds } from '../../runtime/config/config.ts';
import { suffixes } from '../../runtime/contract.ts';
import type { Settings } from '../settings/schema.ts';
import { mayUpgrade, whySuspended } from '../settings/updater-state.ts';
import { operatorVersion } from '../settings/version.ts';
import { configured, environmentWith } from './configuration.ts';
import { labels, optOut } from './labels.ts';
import type { Manifest } from './manifest.ts';
import { containerOf, operatorPod, podMetadata } from './pod.ts';
import { grant } from './rights.ts';
import { checkRules, updaterRules } from './updater-rules.ts';

const rbac = 'rbac.authorization.k8s.io/v1';

/** Upgrade and rollback wait for a day at most each. A pod that cannot start must not prevent later runs for good. */
const TWO_DAYS = 48 * 3_600 + 1_800;

/** The CronJob that reports newer versions, and upgrades the Helm release if the settings allow it. */
export class Updater extends Construct {
  /** @param release the other objects of the release, on which the rights of an upgrade depend */
  constructor(scope: Construct, id: string, settings: Settings, release: () => readonly Manifest[]) {
    super(scope, id);
    const name = `${settings.name}${suffixes.updater}`;
    const metadata = { name, labels: labels(settings, 'updater') };
    const inNamespace = { ...metadata, namespace: settings.namespace };
    const upgrading = mayUpgrade(settings.updater) ? rulesOfUpgrade(settings, release()) : undefined;
    const granted = upgrading?.own ?? checkRules(settings.name);

    new k8s.KubeServiceAccount(this, 'account', { metadata: inNamespace, automountServiceAccountToken: false });
    grant(this, settings, { metadata: inNamespace, granted, account: name });
    if (upgrading !== undefined) grant(this, settings, { metadata, granted: upgrading.cluster, account: name });
    new ApiObject(this, 'cron-job', cronJob(settings, inNamespace));
  }
}

export const rulesOfUpgrade = ({ name, namespace }: Settings, release: readonly Manifest[]) =>
  updaterRules([...release, ...own(`${name}${suffixes.updater}`, namespace)], namespace);

/** An upgrade also changes the updater's objects. */
const own = (name: string, namespace: string): Manifest[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name, namespace } },
  ...['Role', 'RoleBinding'].map((kind) => ({ apiVersion: rbac, kind, metadata: { name, namespace } })),
  ...['ClusterRole', 'ClusterRoleBinding'].map((kind) => ({ apiVersion: rbac, kind, metadata: { name } })),
];

function cronJob(settings: Settings, metadata: Manifest['metadata']): Manifest {
  const ownLabels = { ...metadata.labels, ...optOut };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    // In Argo CD, a failed run would make the whole application Degraded.
    metadata: { ...metadata, labels: ownLabels, annotations: { 'argocd.argoproj.io/ignore-healthcheck': 'true' } },
    spec: {
      schedule: settings.updater.schedule,
      // By default it is kube-controller-manager's time zone.
      timeZone: 'Etc/UTC',
      suspend: whySuspended(settings.updater) !== undefined,
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: 3_600,
      jobTemplate: {
        spec: {
          // A failed upgrade was rolled back, and each attempt restarts the operator. The next run is the next attempt.
          backoffLimit: 0,
          activeDeadlineSeconds: TWO_DAYS,
          // An alert of a failed Job ends with the Job, after the next daily run has started.
          ttlSecondsAfterFinished: 86_400,
          template: { metadata: podMetadata(settings, ownLabels, 'updater'), spec: podSpec(settings, metadata.name) },
        },
      },
    },
  };
}

const keyringMount = { name: 'keyring', mountPath: '/etc/lumigo/keyring', readOnly: true } as const;

function podSpec(settings: Settings, serviceAccountName: string) {
  const keyring = settings.updater.verify.keyringSecret;
  return {
    ...operatorPod(settings, 'updater'),
    serviceAccountName,
    restartPolicy: 'Never',
    // On a termination signal, Helm reverts the upgrade that it began.
    terminationGracePeriodSeconds: 120,
    containers: [
      {
        name: 'updater',
        ...containerOf(settings, settings.updater),
        args: ['update'],
        env: environment(settings),
        volumeMounts: [{ name: 'temporary', mountPath: '/tmp' }, ...(keyring === '' ? [] : [keyringMount])],
      },
    ],
    volumes: [
      { name: 'temporary', emptyDir: { sizeLimit: '256Mi' } },
      // With an optional Secret, Helm reports that it is missing. Otherwise the pod would wait without a message.
      ...(keyring === '' ? [] : [{ name: keyringMount.name, secret: { secretName: keyring, optional: true } }]),
    ],
  };
}

function environment(settings: Settings) {
  const { mode, repository, verify } = settings.updater;
  return environmentWith(
    configured(updaterKinds, settings, {
      version: operatorVersion(),
      mode: mode === 'upgrade' ? 'upgrade' : 'check',
      repository: whySuspended(settings.updater) === undefined ? repository : '',
      keyring: verify.keyringSecret === '' ? '' : `${keyringMount.mountPath}/keyring.gpg`,
      logLevel: settings.debug.enabled ? 'debug' : 'info',
    }),
  );
}

import { ApiObject } from 'cdk8s';
import { k8s } from 'cdk8s-plus-28';
import { Construct } from 'constructs';
import { suffixes } from '../../runtime/contract.ts';
import { updaterEnvironment } from '../../runtime/config.ts';
import type { Manifest } from '../manifest.ts';
import type { Settings } from '../settings-schema.ts';
import { operatorVersion } from '../version.ts';
import { imageReference } from './image.ts';
import { labels, optOut } from './labels.ts';
import { containerSecurity, operatorPod } from './pod.ts';
import { policyRules } from './policy-rules.ts';
import { withPodName } from './runtime-environment.ts';
import { updaterRules } from './updater-rules.ts';

export interface UpdaterProps {
  readonly settings: Settings;
  /** Everything else that the release has; its rights follow from it. */
  readonly release: readonly Manifest[];
}

const rbac = 'rbac.authorization.k8s.io';

/** Upgrades the Helm release that it is part of, at the times and to the versions that the settings allow. */
export class Updater extends Construct {
  constructor(scope: Construct, id: string, { settings, release }: UpdaterProps) {
    super(scope, id);
    const { namespace } = settings;
    const name = `${settings.name}${suffixes.updater}`;
    const common = labels(settings, 'updater');
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    const metadata = { name, labels: common };
    const inNamespace = { ...metadata, namespace };
    const rules = rulesOfUpdater({ settings, release });

    new k8s.KubeServiceAccount(this, 'account', { metadata: inNamespace, automountServiceAccountToken: false });
    new k8s.KubeRole(this, 'role', { metadata: inNamespace, rules: policyRules(rules.own) });
    new k8s.KubeRoleBinding(this, 'role-binding', {
      metadata: inNamespace,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects,
    });
    new k8s.KubeClusterRole(this, 'cluster-role', { metadata, rules: policyRules(rules.cluster) });
    new k8s.KubeClusterRoleBinding(this, 'cluster-role-binding', {
      metadata,
      roleRef: { apiGroup: rbac, kind: 'ClusterRole', name },
      subjects,
    });
    new ApiObject(this, 'cron-job', {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { ...inNamespace, labels: { ...common, ...optOut } },
      spec: {
        schedule: settings.updater.schedule,
        // There is nothing newer to be found where there is no chart repository.
        suspend: settings.updater.repository === '',
        concurrencyPolicy: 'Forbid',
        startingDeadlineSeconds: 3_600,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 3,
        jobTemplate: {
          spec: {
            // The next time is the next attempt: an upgrade that failed was rolled back, and each one restarts the operator.
            backoffLimit: 0,
            template: { metadata: { labels: { ...common, ...optOut } }, spec: podSpec(settings, name) },
          },
        },
      },
    });
  }
}

/** What it may do: whatever upgrading all of the release takes, itself included. */
export const rulesOfUpdater = ({ settings: { name, namespace }, release }: UpdaterProps) =>
  updaterRules([...release, ...own(`${name}${suffixes.updater}`, namespace)], namespace);

/** The updater's own objects, which an upgrade changes as well. */
const own = (name: string, namespace: string): Manifest[] => [
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } },
  { apiVersion: 'batch/v1', kind: 'CronJob', metadata: { name, namespace } },
  { apiVersion: `${rbac}/v1`, kind: 'Role', metadata: { name, namespace } },
  { apiVersion: `${rbac}/v1`, kind: 'RoleBinding', metadata: { name, namespace } },
  { apiVersion: `${rbac}/v1`, kind: 'ClusterRole', metadata: { name } },
  { apiVersion: `${rbac}/v1`, kind: 'ClusterRoleBinding', metadata: { name } },
];

const keyringMount = { name: 'keyring', mountPath: '/etc/lumigo/keyring', readOnly: true } as const;

function podSpec(settings: Settings, serviceAccountName: string) {
  const { image, resources, verify } = settings.updater;
  const keyring = verify.keyringSecret;
  return {
    ...operatorPod(settings),
    serviceAccountName,
    restartPolicy: 'Never',
    // Told to stop, Helm takes back what it has begun.
    terminationGracePeriodSeconds: 120,
    containers: [
      {
        name: 'updater',
        image: imageReference(image, settings.imagePrefix),
        imagePullPolicy: 'IfNotPresent',
        args: ['--update'],
        env: environment(settings),
        resources,
        securityContext: containerSecurity,
        volumeMounts: [{ name: 'temporary', mountPath: '/tmp' }, ...(keyring === '' ? [] : [keyringMount])],
      },
    ],
    volumes: [
      { name: 'temporary', emptyDir: { sizeLimit: '256Mi' } },
      ...(keyring === '' ? [] : [{ name: keyringMount.name, secret: { secretName: keyring } }]),
    ],
  };
}

function environment({ name, namespace, updater, debug }: Settings) {
  const { repository, versions, timeoutSeconds, verify } = updater;
  const configuration = updaterEnvironment.toEnvironment({
    version: operatorVersion(),
    operatorName: name,
    operatorNamespace: namespace,
    podName: '',
    repository,
    versions,
    keyring: verify.keyringSecret === '' ? '' : `${keyringMount.mountPath}/keyring.gpg`,
    unsigned: verify.unsigned,
    timeoutSeconds,
    logLevel: debug.enabled ? 'debug' : 'info',
  });
  return withPodName(configuration, updaterEnvironment.variableOf('podName'));
}
